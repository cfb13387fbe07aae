//! Drills: a table of recorded figures, a question and four answers, one of which follows from the table.
//!
//! Each is a file below [`DRILLS`], with its texts in English and in Chinese. Its figures are markers, as in a page, so
//! `just docs` fills them. A text names a figure in braces. A cell of the table that isn't a figure has both
//! languages: `first // 第一`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;

/// The directory of the drills, below the root of the workspace.
pub const DRILLS: &str = "docs/drills";
/// Between the languages of a cell.
const OR_CHINESE: &str = " // ";

/// A drill as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DrillFile {
    sources: Vec<String>,
    more: String,
    right: usize,
    #[serde(default)]
    after_the_cases: bool,
    figures: BTreeMap<String, String>,
    table: DrillTable,
    en: DrillText,
    zh: DrillText,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DrillTable {
    en: Vec<String>,
    zh: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// What a drill says in a language.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrillText {
    /// What was measured.
    pub shown: String,
    pub question: String,
    pub answers: [String; 4],
    /// Why each answer is right or wrong.
    pub because: [String; 4],
}

/// A drill in a language, with its figures.
#[derive(Debug)]
pub struct Drill {
    /// The name of its file, without a number: `which-client`.
    pub name: String,
    /// Its number, from 1.
    pub number: usize,
    /// The files that have its figures, below the root of the workspace.
    pub sources: Vec<String>,
    /// The chapter with more about it, and the part of it: `primer.md#two-loops`.
    pub more: String,
    /// The index of the right answer.
    pub right: usize,
    /// Whether it names a kind of fault that a case has.
    pub after_the_cases: bool,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub text: DrillText,
}

/// All drills in their order. `fresh` may replace the text of a file, such as with newer figures.
///
/// # Errors
///
/// If there are none, or if a file can't be read.
pub fn drills(
    root: &Path,
    is_chinese: bool,
    fresh: impl Fn(String) -> anyhow::Result<String>,
) -> anyhow::Result<Vec<Drill>> {
    let dir = root.join(DRILLS);
    let entries = dir.read_dir().with_context(|| format!("cannot read {}", dir.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    let is_drill = |path: &&PathBuf| path.extension().is_some_and(|it| it == "toml");
    let mut paths: Vec<_> = paths.iter().filter(is_drill).collect();
    paths.sort();
    ensure!(!paths.is_empty(), "there are no drills in {}", dir.display());
    let read = |(at, path): (usize, &&PathBuf)| {
        let text = fresh(fs::read_to_string(path)?)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
        Drill::parse(name, at + 1, &text, is_chinese)
            .with_context(|| format!("correct {}", path.display()))
    };
    paths.iter().enumerate().map(read).collect()
}

impl Drill {
    fn parse(name: &str, number: usize, text: &str, is_chinese: bool) -> anyhow::Result<Self> {
        let file: DrillFile = toml::from_str(&without_comments(text))?;
        ensure!((1..=4).contains(&file.right), "`right` is the number of an answer");
        let fill = |text: &str| filled(text, &file.figures, is_chinese);
        let all = |texts: &[String]| texts.iter().map(|it| fill(it)).collect::<Result<_, _>>();
        let four = |texts: &[String; 4]| -> anyhow::Result<[String; 4]> {
            Ok([fill(&texts[0])?, fill(&texts[1])?, fill(&texts[2])?, fill(&texts[3])?])
        };
        let (head, text) =
            if is_chinese { (&file.table.zh, &file.zh) } else { (&file.table.en, &file.en) };
        for row in &file.table.rows {
            ensure!(row.len() == head.len(), "a row has {} cells of {}", row.len(), head.len());
        }
        let rows = file.table.rows.iter().map(|row| {
            let cells = row.iter().map(|cell| match cell.split_once(OR_CHINESE) {
                Some((english, chinese)) => fill(if is_chinese { chinese } else { english }),
                None => fill(cell),
            });
            cells.collect::<anyhow::Result<Vec<_>>>()
        });
        Ok(Self {
            name: name.to_owned(),
            number,
            right: file.right - 1,
            after_the_cases: file.after_the_cases,
            head: all(head)?,
            rows: rows.collect::<anyhow::Result<_>>()?,
            text: DrillText {
                shown: fill(&text.shown)?,
                question: fill(&text.question)?,
                answers: four(&text.answers)?,
                because: four(&text.because)?,
            },
            sources: file.sources,
            more: file.more,
        })
    }
}

/// The text with the figures that it names in braces.
fn filled(
    text: &str,
    figures: &BTreeMap<String, String>,
    is_chinese: bool,
) -> anyhow::Result<String> {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((name, rest)) = part.split_once('}') else { bail!("`{{{part}` isn't closed") };
        let figure = figures.get(name).with_context(|| format!("no figure is called `{name}`"))?;
        filled += figure;
        filled += rest;
    }
    // Chinese has no space before a per cent sign.
    Ok(if is_chinese { filled.replace(" %", "%") } else { filled })
}

/// The text without the comments that say where its figures are from.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| rest += part.split_once("-->").map_or("", |(_, after)| after));
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOY: &str = r#"
sources = ["docs/replications/toy.json"]
more = "primer.md"
right = 2
[figures]
rate = '<!-- lab: replications.toy.share | percent -->12 %<!-- /lab -->'
[table]
en = ["run", "share"]
zh = ["运行", "比例"]
rows = [['first // 第一次', '{rate}']]
[en]
shown = "It was {rate}."
question = "Why?"
answers = ["a", "b", "c", "d"]
because = ["e", "f of {rate}", "g", "h"]
[zh]
shown = "是 {rate}。"
question = "为什么？"
answers = ["甲", "乙", "丙", "丁"]
because = ["一", "二", "三", "四"]
"#;

    fn workspace() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
    }

    #[test]
    fn a_drill_has_its_figures_in_both_languages() {
        let english = Drill::parse("toy", 1, TOY, false).unwrap();
        assert_eq!((english.right, &*english.text.shown), (1, "It was 12 %."));
        assert_eq!(english.rows, [["first", "12 %"]]);
        assert_eq!(english.text.because[1], "f of 12 %");
        let chinese = Drill::parse("toy", 1, TOY, true).unwrap();
        assert_eq!((&*chinese.text.shown, &*chinese.head[1]), ("是 12%。", "比例"));
        assert_eq!(chinese.rows, [["第一次", "12%"]]);
        for (from, to, what) in [
            ("right = 2", "right = 5", "number of an answer"),
            ("It was {rate}", "It was {rat}", "no figure is called `rat`"),
            ("It was {rate}", "It was {rate", "isn't closed"),
            ("['first // 第一次', '{rate}']", "['{rate}']", "a row has 1 cells of 2"),
        ] {
            let error = Drill::parse("toy", 1, &TOY.replace(from, to), false).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        }
    }

    /// Whether a number begins somewhere outside of code and of braces: `p99` is a name.
    fn has_number(text: &str) -> bool {
        let code = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        let words = code.split(['{', '}']).step_by(2).collect::<Vec<_>>().join("x");
        let mut before = ' ';
        words.chars().any(|char| {
            let begins = char.is_ascii_digit() && !before.is_ascii_alphanumeric();
            before = char;
            begins
        })
    }

    #[test]
    fn a_number_that_is_not_a_figure_is_found() {
        assert!(has_number("It was 12 %.") && has_number("{rate} of 3"));
        assert!(!has_number("The p99 of `GET /1` is {rate} ms"));
    }

    #[test]
    fn every_number_of_a_drill_is_a_figure_with_its_source() {
        let fresh = |text: String| {
            let file: DrillFile = toml::from_str(&without_figures(&text))?;
            for source in &file.sources {
                ensure!(workspace().join(source).is_file(), "{source} is missing");
            }
            for text in [&file.en, &file.zh] {
                let said = [&text.shown, &text.question].into_iter();
                for said in said.chain(&text.answers).chain(&text.because) {
                    ensure!(!has_number(said), "a number isn't a figure: {said}");
                }
            }
            for cell in file.table.rows.iter().flatten() {
                ensure!(!has_number(cell), "a number isn't a figure: {cell}");
            }
            Ok(text)
        };
        let all = drills(workspace(), false, fresh).unwrap();
        assert!(all.len() >= 20, "{}", all.len());
        assert_eq!(all.len(), drills(workspace(), true, Ok).unwrap().len());
        for right in 0..4 {
            let count = all.iter().filter(|drill| drill.right == right).count();
            assert!(count * 6 >= all.len(), "answer {} is right {count} times", right + 1);
        }
    }

    #[test]
    fn the_right_answer_is_not_known_by_its_length() {
        let length = |answer: &String| answer.chars().count();
        let is_longest = |drill: &&Drill| {
            let longest = drill.text.answers.iter().map(length).max();
            longest == Some(length(&drill.text.answers[drill.right]))
        };
        for is_chinese in [false, true] {
            let all = drills(workspace(), is_chinese, Ok).unwrap();
            let count = all.iter().filter(is_longest).count();
            assert!(count <= 10, "the right answer is the longest in {count} drills");
        }
    }

    /// The text without what its markers hold.
    fn without_figures(text: &str) -> String {
        let mut parts = text.split("<!-- /lab -->").collect::<Vec<_>>();
        let last = parts.pop().unwrap_or_default();
        let cut = |part: &&str| part.split("<!--").next().unwrap_or_default().to_owned();
        parts.iter().map(cut).collect::<String>() + last
    }
}
