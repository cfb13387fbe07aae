//! The drills as Markdown: each is readable as it is, with its answer folded, and `docs/theme/drills.js` asks it.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use lab_cases::{Drill, drills};
use lab_report::{Table, origin::relative};
use minijinja::State;

use super::{
    markdown::replaced,
    marker::markers,
    translated_pages::{chapter, is_chinese},
};

/// The words around a drill.
struct DrillWords {
    drill: &'static str,
    answer: &'static str,
    right: &'static str,
    more: &'static str,
    figures: &'static str,
}

const ENGLISH: DrillWords = DrillWords {
    drill: "**Drill {}.** ",
    answer: "The answer, and why the others are wrong",
    right: "**Right.** ",
    more: "More: ",
    figures: "Figures: ",
};
const CHINESE: DrillWords = DrillWords {
    drill: "**小测 {}**：",
    answer: "答案，以及其余的为什么不对",
    right: "**对**。",
    more: "更多：",
    figures: "数字来自：",
};

/// All drills, or one, in the language of a page in this directory.
pub fn section(
    root: &Path,
    state: &State,
    page_dir: &Path,
    number: Option<usize>,
) -> anyhow::Result<String> {
    let chinese = is_chinese(root, page_dir);
    let all = drills(root, chinese, |text| fresh(&text, state))?;
    let words = if chinese { &CHINESE } else { &ENGLISH };
    let of = all.len();
    let chosen = all.iter().filter(|drill| number.is_none_or(|number| drill.number == number));
    let chosen = chosen.map(|drill| markdown(drill, of, words, root, page_dir));
    let chosen = chosen.collect::<anyhow::Result<Vec<_>>>()?;
    anyhow::ensure!(!chosen.is_empty(), "the last drill has the number {of}");
    Ok(chosen.join("\n"))
}

/// The text of a drill with the figures of today.
fn fresh(text: &str, state: &State) -> anyhow::Result<String> {
    let value = |expression: &str| -> anyhow::Result<String> {
        let compiled = state.env().compile_expression(expression);
        let value = compiled.and_then(|compiled| compiled.eval(()));
        Ok(value.map_err(|error| anyhow!("`{expression}`: {error}"))?.to_string())
    };
    let (found, _) = markers(text);
    let filled = found.into_iter().map(|marker| Ok((marker.content, value(&marker.expression)?)));
    Ok(replaced(text, filled.collect::<anyhow::Result<_>>()?))
}

fn markdown(
    drill: &Drill,
    of: usize,
    words: &DrillWords,
    root: &Path,
    page_dir: &Path,
) -> anyhow::Result<String> {
    let Drill { number, name, right, text, .. } = drill;
    let table = Table::new("", drill.head.clone(), drill.rows.clone()).markdown();
    let label = words.drill.replace("{}", &number.to_string());
    let answers = numbered(text.answers.iter().map(String::clone));
    let because = text.because.iter().enumerate().map(|(at, why)| {
        let mark = if at == *right { words.right } else { "" };
        format!("{mark}{why}")
    });
    let because = numbered(because);
    let (file, anchor) = drill.more.split_once('#').unwrap_or((&drill.more, ""));
    let path = chapter(root, page_dir, file);
    let title = title(&path)?;
    let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
    let more = format!("{}[{title}]({}{anchor})", words.more, relative(page_dir, &path));
    let link = |source: &String| {
        let name = source.rsplit('/').next().unwrap_or(source);
        format!("[`{name}`]({})", relative(page_dir, &root.join(source)))
    };
    let sources = drill.sources.iter().map(link).collect::<Vec<_>>().join(", ");
    Ok(format!(
        "<section class=\"drill\" id=\"drill-{number}\" data-name=\"{name}\" data-right=\"{right}\" data-of=\"{of}\">\n\n\
         {label}{}\n\n{table}\n**{}**\n\n{answers}\n<details>\n<summary>{}</summary>\n\n{because}\n{more} · {}{sources}\n\n\
         </details>\n\n</section>\n",
        text.shown, text.question, words.answer, words.figures
    ))
}

fn numbered(items: impl Iterator<Item = String>) -> String {
    items.enumerate().map(|(at, item)| format!("{}. {item}\n", at + 1)).collect()
}

/// The first heading of a page.
fn title(path: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let title = text.lines().find_map(|line| line.strip_prefix("# "));
    title.map(str::to_owned).with_context(|| format!("{} has no title", path.display()))
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    #[test]
    fn a_drill_has_the_figures_of_today_and_says_which_there_are() {
        let fixture = Fixture::new();
        let newer = r#"{ "ratio": 12.5, "tables": {} }"#;
        fixture.write("docs/replications/locust-toy.json", newer);
        let made = fixture.eval("drills()").unwrap();
        assert!(made.contains("It was 12.5.") && made.contains("| first | 12.5 |"), "{made}");
        assert!(made.contains("2. **Right.** f\n"), "{made}");
        let book = fixture.book();
        let chinese = book.eval("drills(1)", &book.root.join("docs/zh-CN/src")).unwrap();
        assert!(chinese.contains("是 12.5。") && chinese.contains("2. **对**。二"), "{chinese}");
        assert!(chinese.contains("](../../src/README.md)"), "{chinese}");
        assert_eq!(fixture.eval("drills(2)").unwrap_err(), "the last drill has the number 1");
    }
}
