//! The functions that make blocks: excerpts, differences, tables and pictures.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, ensure};
use lab_course::chart::{self, Chart, SweepPoint};
use lab_model::{BASELINE, CANDIDATE, criterion::Bench, unknown, words::relative};
use minijinja::{Environment, Error, State, Value, context, value::ValueKind};

use super::{
    excerpt::{excerpt, fenced, language, without_expectations, without_module_doc},
    names::failed,
    page::CHAPTERS,
    sources::Sources,
};

#[derive(Clone, Debug)]
pub struct Picture {
    /// Its path below `docs/src`.
    pub path: String,
    pub svg: String,
}

/// Pictures of the expression that is being evaluated.
pub type Drawn = Arc<Mutex<Vec<Picture>>>;

/// The tables, each a template over what the expression names, which is `it` there. `pair` and
/// `counts-pair` are `case` and `counts` for a reader who has yet to find the fault.
const TABLES: [(&str, &str); 9] = [
    ("benches", include_str!("tables/benches.md")),
    ("case", include_str!("tables/case.md")),
    ("counts", include_str!("tables/counts.md")),
    ("counts-pair", include_str!("tables/counts.md")),
    ("pair", include_str!("tables/case.md")),
    ("replication", include_str!("tables/replication.md")),
    ("steps", include_str!("tables/steps.md")),
    ("summary", include_str!("tables/summary.md")),
    ("top", include_str!("tables/top.md")),
];

pub(super) fn add_to(
    env: &mut Environment<'static>,
    sources: &Arc<Sources>,
    drawn: &Drawn,
) -> anyhow::Result<()> {
    for (name, template) in TABLES {
        env.add_template(name, template)?;
    }
    env.add_function("table", table);
    let its = Arc::clone(sources);
    env.add_function("link", move |state: &State, file: &str| link(state, &its.root.join(file)));
    let its = Arc::clone(sources);
    // `name` is shown in place of the path, which may give a fault away.
    env.add_function(
        "code",
        move |state: &State, file: &str, item: Option<&str>, name: Option<&str>| {
            let text = read(&its.root, file)?;
            let excerpt = excerpt(&without_expectations(&text), item)
                .map_err(|error| failed(error.context(file.to_owned())))?;
            let fence = fenced(language(file), &excerpt);
            let link = link(state, &its.root.join(file))?;
            let name = name.map_or_else(|| format!("`{file}`"), bracketed);
            Ok::<_, Error>(format!("{fence}\n\n*[{name}]({link})*"))
        },
    );
    let its = Arc::clone(sources);
    env.add_function("diff", move |state: &State, a: &str, b: &str| {
        let (from, to) = (link(state, &its.root.join(a))?, link(state, &its.root.join(b))?);
        let diff = diff(&its.root, a, b).map_err(failed)?;
        Ok::<_, Error>(format!("{diff}\n\n*From [`{a}`]({from}) to [`{b}`]({to})*"))
    });
    let its = Arc::clone(sources);
    env.add_function("flame", move |state: &State, case: &Value, file: &str, caption: &str| {
        let path = its.flame(&text(case, "case")?)?.join(file);
        if !path.is_file() {
            return Err(failed(format!("{} is missing: `just record` draws it", path.display())));
        }
        let link = link(state, &path)?;
        let alt = bracketed(caption);
        Ok(format!("[![{alt}]({link})]({link})\n\n*{caption}*"))
    });
    let (its, drawn) = (Arc::clone(sources), Arc::clone(drawn));
    env.add_function("chart", move |state: &State, kind: &str, of: &Value| {
        let (name, chart) = match kind {
            "throughput" => {
                let case = text(of, "case")?;
                (format!("case-{case}"), chart::throughput(its.measured(&case)?))
            }
            "pair" => {
                let pair = its.pair(&text(of, "case")?)?;
                (format!("pair-{}", pair.case), chart::throughput(&pair))
            }
            "sweep" => {
                let group = text(of, "name")?;
                let chart = sweep(&its, &group)?;
                (group, chart)
            }
            kind => return Err(failed(unknown("chart", kind, ["throughput", "pair", "sweep"]))),
        };
        let path = format!("charts/{name}.svg");
        let link = link(state, &its.root.join(CHAPTERS).join(&path))?;
        let picture = Picture { path, svg: chart.svg };
        drawn.lock().unwrap_or_else(PoisonError::into_inner).push(picture);
        Ok(format!("![{}]({link})", bracketed(&chart.alt)))
    });
    Ok(())
}

/// What a case or a group of benches is called.
fn text(of: &Value, name: &str) -> Result<String, Error> {
    Ok(of.get_attr(name)?.to_string())
}

/// A table, and below it that of the reader's own runs, if there are any.
fn table(state: &State, name: &str, it: Value) -> Result<String, Error> {
    let env = state.env();
    let template = env.get_template(name);
    let template =
        template.map_err(|_| failed(unknown("table", name, TABLES.map(|(name, _)| name))))?;
    let render = |it: &Value| {
        let page = state.lookup("page");
        Ok::<_, Error>(template.render(context! { it, page, name })?.trim().to_owned())
    };
    let own = |it: &Value| it.get_attr("mine").ok().filter(|own| own.kind() == ValueKind::Map);
    let own = match it.kind() {
        ValueKind::Seq => {
            let all: Vec<_> = it.try_iter()?.filter_map(|case| own(&case)).collect();
            (!all.is_empty()).then(|| Value::from(all))
        }
        _ => own(&it),
    };
    let table = render(&it)?;
    Ok(match own {
        Some(own) => format!("{table}\n\n**On your machine:**\n\n{}", render(&own)?),
        None => table,
    })
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
fn sweep(sources: &Sources, group: &str) -> Result<Chart, Error> {
    let benches = sources.benches()?.benches.iter().filter(|bench| bench.group == group);
    let points = points(&benches.collect::<Vec<_>>());
    let points = points.with_context(|| format!("`{group}` is not a sweep")).map_err(failed)?;
    Ok(chart::sweep(&points, sources.sweep(group)?))
}

fn points(benches: &[&Bench]) -> anyhow::Result<Vec<SweepPoint>> {
    let side = |name: &'static str| benches.iter().filter(move |bench| bench.name == name);
    let mut points = Vec::new();
    for slow in side(BASELINE) {
        let parameter = slow.parameter.as_deref().context("a bench has no parameter")?;
        let fixed = side(CANDIDATE).find(|it| it.parameter.as_deref() == Some(parameter));
        let fixed =
            fixed.with_context(|| format!("no bench of {CANDIDATE} matches {}", slow.id()))?;
        let parameter = parameter.parse();
        let parameter = parameter.with_context(|| format!("{} has no number", slow.id()))?;
        points.push(SweepPoint { parameter, slow: (*slow).clone(), fixed: (*fixed).clone() });
    }
    ensure!(!points.is_empty(), "it has no bench of {BASELINE}");
    Ok(points)
}

fn read(root: &Path, file: &str) -> Result<String, Error> {
    let text = std::fs::read_to_string(root.join(file));
    text.map_err(|error| failed(format!("cannot read {file}: {error}")))
}

/// The target of a link from the page to a file.
fn link(state: &State, to: &Path) -> Result<String, Error> {
    let page = state.lookup("page").unwrap_or_default();
    let page = page.as_str().ok_or_else(|| failed("the page has no directory"))?;
    Ok(relative(Path::new(page), to))
}

fn bracketed(text: &str) -> String {
    text.replace('[', "\\[").replace(']', "\\]")
}
