//! The functions of expressions: excerpts, differences, tables, pictures, and what a function cost.

use std::{path::Path, sync::Arc};

use anyhow::{Context as _, anyhow, ensure};
use lab_cases::{FIXED, SLOW, criterion::Bench, unknown, without_expectations};
use lab_pictures::chart::{self, Chart, SweepPoint};
use lab_protocol::Metric;
use lab_report::{
    CaseRecord, Table, TextLanguage, VariantRecord, explained, join, origin::relative,
};
use lab_stats::md1_wait_ms;
use minijinja::{Environment, Error, State, Value};
use regex_lite::Regex;

use super::{
    card::card,
    drills,
    excerpt::{excerpt, fenced, language, without_module_doc},
    failed::failed,
    page::CHAPTERS,
    profiles::law_points,
    screen,
    sources::Sources,
    tables::table,
    translated_pages,
};

/// How the row with the minutes of a page begins, in both languages.
const TIME_ROWS: [&str; 2] = ["| time | ", "| 时间 | "];
/// The rules of `lab triage`.
const RULES: &str = "crates/lab/triage/src/rules.toml";

/// Adds the functions that the expressions of a page can call.
pub(super) fn add_to(env: &mut Environment<'static>, sources: &Arc<Sources>) {
    add_figures(env, sources);
    add_lists(env, sources);
    add_excerpts(env, sources);
    add_chapters(env, sources);
    add_pictures(env, sources);
}

/// Functions for what was measured, or follows from it.
fn add_figures(env: &mut Environment<'static>, sources: &Arc<Sources>) {
    let its = Arc::clone(sources);
    env.add_function("table", move |kind: &str, of: Option<Value>| {
        table(&its, kind, &of.unwrap_or_default())
    });
    let its = Arc::clone(sources);
    env.add_function("share", move |of: Value, name: &str, kind: Option<&str>| {
        function(&its, &of, name, kind).map(|[own, all]| own / all)
    });
    let its = Arc::clone(sources);
    env.add_function("cost", move |of: Value, name: &str, kind: Option<&str>| {
        function(&its, &of, name, kind).map(|[own, _]| own)
    });
    env.add_function("md1", |rate_per_s: f64, service_ms: f64, quantile: f64| {
        md1_wait_ms(rate_per_s, service_ms, quantile)
            .ok_or_else(|| failed(anyhow!("no queue is stable with these figures")))
    });
}

/// Functions for what the workspace itself says: its badges, codes, screens, metrics and rules.
fn add_lists(env: &mut Environment<'static>, sources: &Arc<Sources>) {
    let its = Arc::clone(sources);
    env.add_function("badges", move || badges(&its.root).map_err(failed));
    let its = Arc::clone(sources);
    env.add_function("codes", move |state: &State| {
        let is_chinese = translated_pages::is_chinese(&its.root, Path::new(&page(state)?));
        Ok::<_, Error>(explained(if is_chinese {
            TextLanguage::Chinese
        } else {
            TextLanguage::English
        }))
    });
    let its = Arc::clone(sources);
    env.add_function("screen", move |kind: &str| screen::table(&its.root, kind).map_err(failed));
    env.add_function("metrics", || {
        let names = Metric::of_servers().map(|metric| format!("`{}`", <&str>::from(metric)));
        join(&names.collect::<Vec<_>>())
    });
    let its = Arc::clone(sources);
    env.add_function("suspects", move || suspects(&its.root).map_err(failed));
}

/// Functions that quote source files and commands.
fn add_excerpts(env: &mut Environment<'static>, sources: &Arc<Sources>) {
    let its = Arc::clone(sources);
    env.add_function(
        "code",
        move |state: &State, file: &str, item: Option<&str>, name: Option<&str>| {
            code(&its.root, state, file, item, name)
        },
    );
    let its = Arc::clone(sources);
    env.add_function("diff", move |state: &State, a: &str, b: &str| {
        let (from, to) = (link(state, &its.root.join(a))?, link(state, &its.root.join(b))?);
        let diff = diff(&its.root, a, b).map_err(failed)?;
        Ok::<_, Error>(format!("{diff}\n\n*From [`{a}`]({from}) to [`{b}`]({to})*"))
    });
    let its = Arc::clone(sources);
    env.add_function("sh", move |lines: &str| shell(&its.root, lines).map_err(failed));
}

/// Functions that refer to other chapters.
fn add_chapters(env: &mut Environment<'static>, sources: &Arc<Sources>) {
    let its = Arc::clone(sources);
    env.add_function("card", move |state: &State, case: &str| case_card(&its.root, state, case));
    let its = Arc::clone(sources);
    env.add_function("drills", move |state: &State, number: Option<usize>| {
        drills::section(&its.root, state, Path::new(&page(state)?), number).map_err(failed)
    });
    let its = Arc::clone(sources);
    env.add_function("minutes", move |state: &State, of: &str| minutes(&its.root, state, of));
    let its = Arc::clone(sources);
    env.add_function("translates", move |state: &State, english: &str, of: &str| {
        translated_pages::notice(&its.root, Path::new(&page(state)?), english, of).map_err(failed)
    });
}

/// Functions that show pictures of the record.
fn add_pictures(env: &mut Environment<'static>, sources: &Arc<Sources>) {
    let its = Arc::clone(sources);
    // `seen` is for readers who can't see the picture: its widest box, or what changes.
    env.add_function(
        "flame",
        move |state: &State, case: &Value, file: &str, caption: &str, seen: Option<&str>| {
            let path = its.picture(&text(case, "case")?, file).map_err(failed)?;
            let link = link(state, &path)?;
            let alt = bracketed(seen.unwrap_or(caption));
            Ok::<_, Error>(format!("[![{alt}]({link})]({link})\n\n*{caption}*"))
        },
    );
    let its = Arc::clone(sources);
    env.add_function("chart", move |state: &State, kind: &str, of: Option<&Value>| {
        let named = |of| text(of, if kind == "sweep" { "name" } else { "case" });
        let of = of.map_or(Ok(String::new()), named)?;
        let (path, chart) = chart(&its, kind, &of).map_err(failed)?;
        let path =
            translated_pages::picture(&its.root, Path::new(&page(state)?), &its.root.join(path));
        let link = link(state, &path)?;
        Ok::<_, Error>(format!("![{}]({link})", bracketed(&chart.alt)))
    });
}

/// An excerpt of a source file, with a link to the file. A `name` replaces the path, which may give a fault away.
fn code(
    root: &Path,
    state: &State,
    file: &str,
    item: Option<&str>,
    name: Option<&str>,
) -> Result<String, Error> {
    let text = read(root, file)?;
    let excerpt = excerpt(&without_expectations(&text), item)
        .map_err(|error| failed(error.context(file.to_owned())))?;
    let fence = fenced(language(file), &excerpt);
    let link = link(state, &root.join(file))?;
    let name = name.map_or_else(|| format!("`{file}`"), bracketed);
    Ok(format!("{fence}\n\n*[{name}]({link})*"))
}

/// The card of a case, whose name is the one in the address of its chapter.
fn case_card(root: &Path, state: &State, case: &str) -> Result<String, Error> {
    let to = page(state)?;
    let chapter = translated_pages::chapter(root, Path::new(&to), &format!("cases/{case}.md"));
    let name = relative(root, &chapter);
    let (from, text) = (chapter.parent().unwrap_or(root), read(root, &name)?);
    card(&text, from, Path::new(&to)).map_err(|error| failed(error.context(name)))
}

/// `9 + 7`: the minutes to read a chapter, and for its commands.
fn minutes(root: &Path, state: &State, of: &str) -> Result<String, Error> {
    let chapter = translated_pages::chapter(root, Path::new(&page(state)?), of);
    let text = read(root, &relative(root, &chapter))?;
    let is_time_row = |line: &&str| TIME_ROWS.iter().any(|start| line.starts_with(start));
    let row = text.lines().find(is_time_row);
    let row = row.ok_or_else(|| failed(format!("{of} has no row `{}…`", TIME_ROWS[0])))?;
    let numbers = row.split(|char: char| !char.is_ascii_digit()).filter(|part| !part.is_empty());
    Ok(numbers.collect::<Vec<_>>().join(" + "))
}

/// All charts that a page can show, with their paths below the workspace.
pub(super) fn charts(sources: &Sources) -> Vec<(String, Chart)> {
    let pairs = sources.record().into_iter().flat_map(|record| &record.cases);
    let kinds = ["ladder", "flames", "boxes", "law"];
    let pairs = pairs.flat_map(|case| kinds.map(|kind| (kind, case.case.as_str())));
    let sweeps = sources.cases.iter().flat_map(|case| case.sweeps.keys());
    let sweeps = sweeps.map(|name| ("sweep", name.as_str()));
    // A chart that cannot be drawn is an error of the marker that asks for it, so it is skipped here.
    let all = pairs.chain(sweeps).chain([("law", "")]);
    all.filter_map(|(kind, of)| chart(sources, kind, of).ok()).collect()
}

/// A chart and its path below the workspace. It shows all variants of a case, the CPU time of `slow` and `fixed`, Amdahl's
/// law with the points of the cases up to this one, or a group of benches.
fn chart(sources: &Sources, kind: &str, of: &str) -> anyhow::Result<(String, Chart)> {
    let path = |name: String| format!("{CHAPTERS}/charts/{name}.svg");
    let case = || {
        let case = sources.record()?.cases.iter().find(|case| case.case == of);
        case.with_context(|| format!("the record has no {of}"))
    };
    let pair = || anyhow::Ok(sources.pair(case()?));
    match kind {
        // All steps, for after the reader has found the fault.
        "ladder" => {
            let mut ladder = CaseRecord { case: pair()?.case, ..case()?.clone() };
            let metric = ladder.metric;
            ladder.variants.sort_by(|a, b| rise(a, metric).total_cmp(&rise(b, metric)));
            Ok((path(format!("ladder-{}", ladder.case)), chart::deciding(&ladder)))
        }
        "flames" => {
            let drawn = |name| anyhow::Ok(std::fs::read_to_string(sources.picture(of, name)?)?);
            let alt = format!(
                "Two flame graphs of {of} on one scale: the CPU time of a request to the slow server, and to the fixed \
                 one, where a frame stands for the time that the fix saves."
            );
            let svg = one_below_the_other(&[drawn("slow.svg")?, drawn("fixed.svg")?])?;
            Ok((path(format!("flames-{of}")), Chart { svg, alt }))
        }
        "boxes" => {
            let [slow, fixed] = [SLOW, FIXED].map(|variant| sources.stacks(of, variant, "cpu"));
            let case = pair()?.case;
            let drawn = chart::boxes(case.named().unwrap_or(of), [&slow?, &fixed?]);
            Ok((path(format!("boxes-{case}")), drawn))
        }
        "law" if of.is_empty() => Ok((path("law".to_owned()), chart::law(&[]))),
        "law" => {
            let points = law_points(sources, of)?;
            Ok((path(format!("law-{}", pair()?.case)), chart::law(&points)))
        }
        "sweep" => {
            let benches = sources.benches()?.benches.iter().filter(|bench| bench.group == of);
            let points = points(&benches.collect::<Vec<_>>());
            let points = points.with_context(|| format!("`{of}` is not a sweep"))?;
            Ok((path(of.to_owned()), chart::sweep(&points, sources.sweep(of)?)))
        }
        kind => Err(unknown("chart", kind, ["ladder", "flames", "boxes", "law", "sweep"])),
    }
}

/// Pictures of one width in one picture, in which nothing can be searched or clicked.
fn one_below_the_other(svgs: &[String]) -> anyhow::Result<String> {
    let size = Regex::new(r#"^<svg [^>]*\bwidth="([0-9.]+)" height="([0-9.]+)""#)?;
    let acts =
        Regex::new(r#"(?s)<script\b.*?</script>|<text\b[^>]*\bid="(?:search|unzoom)".*?</text>"#)?;
    let (mut width, mut height, mut body) = (0.0_f64, 0.0, String::new());
    for svg in svgs {
        let svg = &acts.replace_all(svg, "");
        let found = size.captures(svg).context("a picture without its size")?;
        width = width.max(found[1].parse()?);
        body += &svg.replacen("<svg ", &format!("<svg y=\"{height}\" "), 1);
        height += found[2].parse::<f64>()?;
    }
    Ok(format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">{body}</svg>"#
    ) + "\n")
}

/// A variant's factor over slow, which is first.
fn rise(variant: &VariantRecord, metric: Metric) -> f64 {
    let factor = variant.speedup.as_ref().and_then(|speedups| speedups.of(metric));
    factor.map_or(0.0, |factor| factor.estimate)
}

/// The cost of a function of a variant, and the total cost of the variant.
fn function(
    sources: &Sources,
    of: &Value,
    name: &str,
    kind: Option<&str>,
) -> Result<[f64; 2], Error> {
    let (case, variant) = (text(of, "case")?, text(of, "variant")?);
    sources.function([&case, &variant], name, kind.unwrap_or("cpu")).map_err(failed)
}

/// The attribute `name` of a case, a variant or a group of benches, as text.
fn text(of: &Value, name: &str) -> Result<String, Error> {
    Ok(of.get_attr(name)?.to_string())
}

/// A table of the suspects of `lab triage`, in the order of its rules.
fn suspects(root: &Path) -> anyhow::Result<String> {
    let rules = std::fs::read_to_string(root.join(RULES))?;
    let rules: toml::Table = rules.parse().context(RULES)?;
    let row = |rule: &toml::Value| {
        let [title, explains] = ["title", "explains"].map(|key| rule[key].as_str());
        let is_cpu = explains?.ends_with("_cpu_share");
        let of = if is_cpu { "CPU time" } else { "answers, waiting or connections" };
        Some(vec![title?.to_owned(), of.to_owned()])
    };
    let rows = rules["rule"].as_array().context("there are rules")?.iter().filter_map(row);
    Ok(Table::new("", ["suspect", "it accounts for"], rows).markdown())
}

/// A value of `[workspace.package]` in `Cargo.toml`; `None` if it is empty, as `repository` is until there is an
/// address.
fn package(root: &Path, key: &str) -> anyhow::Result<Option<String>> {
    let manifest: toml::Table = toml::from_str(&read(root, "Cargo.toml")?)?;
    let package = manifest.get("workspace").and_then(|workspace| workspace.get("package"));
    let value = package.and_then(|package| package.get(key)).and_then(toml::Value::as_str);
    Ok(value.filter(|value| !value.is_empty()).map(str::to_owned))
}

/// Commands, in which `ADDRESS` becomes the repository's. Until there is one, lines that need it are left out, so that
/// everything that is shown can be pasted.
fn shell(root: &Path, lines: &str) -> anyhow::Result<String> {
    let address = package(root, "repository")?;
    let is_shown = |line: &&str| address.is_some() || !line.contains("ADDRESS");
    let lines: Vec<_> = lines.lines().filter(is_shown).collect();
    Ok(format!("```sh\n{}\n```", lines.join("\n").replace("ADDRESS", &address.unwrap_or_default())))
}

/// The badges at the top of the README: the state of the checks, the newest release, the compiler and the licence.
fn badges(root: &Path) -> anyhow::Result<String> {
    let mut badges = Vec::new();
    if let Some(address) = package(root, "repository")? {
        let checks = format!("{address}/actions/workflows/ci.yml");
        badges.push(format!("[![checks]({checks}/badge.svg)]({checks})"));
        badges.push(format!("[newest release]({address}/releases/latest)"));
    }
    badges.extend(package(root, "rust-version")?.map(|version| format!("Rust {version}")));
    badges.extend(package(root, "license")?);
    Ok(badges.join(" · "))
}

fn diff(root: &Path, a: &str, b: &str) -> anyhow::Result<String> {
    let (old, new) = (read(root, a)?, read(root, b)?);
    let mut diff = diffy::DiffOptions::new();
    diff.set_original_filename(a.to_owned()).set_modified_filename(b.to_owned());
    let [old, new] = [old, new].map(|text| without_expectations(without_module_doc(&text)));
    let patch = diff.create_patch(&old, &new);
    ensure!(!patch.hunks().is_empty(), "{a} and {b} are the same");
    Ok(fenced("diff", &patch.to_string()))
}

/// Both sides at every parameter, in the order in which slow was measured.
fn points(benches: &[&Bench]) -> anyhow::Result<Vec<SweepPoint>> {
    let side = |name: &'static str| benches.iter().filter(move |bench| bench.name == name);
    let mut points = Vec::new();
    for slow in side(SLOW) {
        let parameter = slow.parameter.as_deref().context("a bench has no parameter")?;
        let fixed = side(FIXED).find(|bench| bench.parameter.as_deref() == Some(parameter));
        let fixed = fixed.with_context(|| format!("no bench of {FIXED} matches {}", slow.id()))?;
        let number = parameter.parse::<f64>();
        let number = number.with_context(|| format!("{} has no number", slow.id()))?;
        points.push(SweepPoint {
            parameter: number,
            slow: (*slow).clone(),
            fixed: (*fixed).clone(),
        });
    }
    ensure!(!points.is_empty(), "it has no bench of {SLOW}");
    Ok(points)
}

fn read(root: &Path, file: &str) -> Result<String, Error> {
    let text = std::fs::read_to_string(root.join(file));
    text.map_err(|error| failed(format!("cannot read {file}: {error}")))
}

/// The target of a link from the page to a file.
fn link(state: &State, to: &Path) -> Result<String, Error> {
    Ok(relative(Path::new(&page(state)?), to))
}

/// The directory of the page that is filled.
fn page(state: &State) -> Result<String, Error> {
    let page = state.lookup("page").unwrap_or_default();
    page.as_str().map(str::to_owned).ok_or_else(|| failed("the page has no directory"))
}

fn bracketed(text: &str) -> String {
    text.replace('[', "\\[").replace(']', "\\]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_below_each_other_keep_their_scale() {
        let [first, second] =
            [90, 60].map(|it| format!("<svg width=\"1200\" height=\"{it}\">a</svg>"));
        let both = one_below_the_other(&[first, second]).unwrap();
        assert!(both.contains("width=\"1200\" height=\"150\" viewBox=\"0 0 1200 150\""), "{both}");
        assert!(both.contains("<svg y=\"0\" width=\"1200\" height=\"90\">"), "{both}");
        assert!(both.contains("<svg y=\"90\" width=\"1200\" height=\"60\">"), "{both}");
        assert!(one_below_the_other(&["<svg/>".to_owned()]).is_err());
    }

    #[test]
    fn a_command_that_needs_the_address_is_shown_once_there_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let written = |address: &str| {
            let manifest = format!("[workspace.package]\nrepository = \"{address}\"\n");
            std::fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
            shell(dir.path(), "just test\ngit clone ADDRESS toy").unwrap()
        };
        assert_eq!(written(""), "```sh\njust test\n```");
        assert_eq!(written("https://a.b"), "```sh\njust test\ngit clone https://a.b toy\n```");
    }
}
