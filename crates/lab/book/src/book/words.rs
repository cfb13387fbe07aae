//! The Chinese words for the English ones that a marker makes: `docs/zh-CN/words.toml`.

use std::{collections::BTreeMap, path::Path, sync::LazyLock};

use anyhow::Context as _;
use regex_lite::{Captures, NoExpand, Regex, escape};
use serde::Deserialize;

/// English, and what to write instead. `{}` stands for anything in it, and `{n}` for a figure with its unit;
/// `$1` repeats the first of these.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordTable {
    /// A whole cell of a table, or a whole value in a line.
    cells: BTreeMap<String, String>,
    /// A part of a caption, or of the description of a picture.
    phrases: BTreeMap<String, String>,
    /// A whole text in a picture.
    #[serde(default)]
    pictures: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
pub struct Words {
    cells: Vec<(Regex, String)>,
    phrases: Vec<(Regex, String)>,
    pictures: Vec<(Regex, String)>,
}

impl Words {
    /// The words in a file; empty if there is no such file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let Ok(text) = std::fs::read_to_string(path) else { return Ok(Self::default()) };
        let context = || path.display().to_string();
        let table: WordTable = toml::from_str(&text).with_context(context)?;
        let compiled = |words: BTreeMap<String, String>, ends: [&str; 2]| {
            let mut words: Vec<_> = words.into_iter().collect();
            // The longest first: a part of it may be a phrase of its own.
            words.sort_by_key(|(english, _)| std::cmp::Reverse(english.len()));
            let one = |(english, chinese): (String, String)| {
                let pattern = escape(&english)
                    .replace("\\{n\\}", r"(\d[\d.,]*(?: (?:ns|µs|ms|s|%))?)")
                    .replace("\\{\\}", "(.+?)");
                Ok((Regex::new(&(ends[0].to_owned() + &pattern + ends[1]))?, chinese))
            };
            words.into_iter().map(one).collect::<anyhow::Result<Vec<_>>>().with_context(context)
        };
        Ok(Self {
            cells: compiled(table.cells, ["^", "$"])?,
            phrases: compiled(table.phrases, ["", ""])?,
            pictures: compiled(table.pictures, ["^", "$"])?,
        })
    }

    /// Translates the text that a marker made. Also returns the English heads and captions that have no translation
    /// yet.
    pub fn apply(&self, made: &str) -> (String, Vec<String>) {
        let (mut lines, mut missing) = (Vec::new(), Vec::new());
        let mut is_code = false;
        for (at, line) in made.lines().enumerate() {
            is_code ^= line.starts_with("```");
            if is_code || line.starts_with("```") {
                lines.push(line.to_owned());
                continue;
            }
            let line = if line.starts_with('|') {
                let cell = |cell: &str| match self.cell(cell.trim()) {
                    Some(words) => cell.replacen(cell.trim(), &words, 1),
                    None => {
                        let is_missing = at == 0 && is_english(cell);
                        missing.extend(is_missing.then(|| cell.trim().to_owned()));
                        cell.to_owned()
                    }
                };
                line.split('|').map(cell).collect::<Vec<_>>().join("|")
            } else {
                let line = self.cell(line).unwrap_or_else(|| self.phrases(line));
                missing.extend(english(&line));
                line
            };
            // Chinese has no space before a per cent sign.
            lines.push(PERCENT.replace_all(&line, "$1%").into_owned());
        }
        (lines.join("\n"), missing)
    }

    /// A picture in the words of the page, and its English texts that have no words yet.
    pub fn picture(&self, svg: &str) -> (String, Vec<String>) {
        let mut missing = Vec::new();
        let made = TEXTS.replace_all(svg, |found: &Captures| {
            let [before, text, after] =
                [1, 2, 3].map(|nth| found.get(nth).map_or("", |group| group.as_str()));
            // In a script, a single word is a name.
            let is_text = before == ">" || text.contains(' ');
            let mut unknown = Vec::new();
            let words = if is_text { self.text(text, &mut unknown) } else { text.to_owned() };
            missing.extend(unknown.into_iter().filter(|_| before == ">"));
            let words = if is_text { PERCENT.replace_all(&words, "$1%") } else { words.into() };
            format!("{before}{words}{after}")
        });
        (made.into_owned(), missing)
    }

    /// A text of a picture. What stands for `{}` in it may have words of its own.
    fn text(&self, text: &str, missing: &mut Vec<String>) -> String {
        let mut fitting = self
            .pictures
            .iter()
            .filter_map(|(english, chinese)| english.captures(text).map(|found| (found, chinese)));
        let Some((found, chinese)) = fitting.next() else {
            missing.extend(TWO_WORDS.is_match(text).then(|| text.to_owned()));
            return text.to_owned();
        };
        let parts = found.iter().enumerate().skip(1);
        parts.fold(chinese.clone(), |made, (nth, part)| {
            let part = self.text(part.map_or("", |part| part.as_str()), missing);
            made.replace(&format!("${nth}"), &part)
        })
    }

    fn cell(&self, cell: &str) -> Option<String> {
        let mut fitting = self.cells.iter().filter(|(english, _)| english.is_match(cell));
        fitting.next().map(|(english, words)| english.replace(cell, words).into_owned())
    }

    fn phrases(&self, line: &str) -> String {
        let all = self.phrases.iter();
        let line = all.fold(line.to_owned(), |line, (english, words)| {
            english.replace_all(&line, words).into_owned()
        });
        // Chinese has no space between sentences.
        line.replace("。 ", "。").replace("； ", "；").replace("， ", "，")
    }
}

/// Code, and the target of a link.
static CODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"`[^`]*`|\]\([^)]*\)").expect("a valid pattern"));
/// A text of a picture, or of its script.
static TEXTS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"([>"`])([^<>"`]+)([<"`])"#).expect("a valid pattern"));
static TWO_WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[^{};]*[a-z]{2} [a-z]{2}[^{};]*$").expect("a valid pattern"));
static PERCENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\d) %").expect("a valid pattern"));
static FOUR_WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z]*[a-z](?:,? [a-z]+){3,}").expect("a valid pattern"));

/// Whether the head of a column has words, and only English ones.
fn is_english(head: &str) -> bool {
    let words = CODE.replace_all(head, "");
    words.is_ascii() && words.contains(|c: char| c.is_ascii_lowercase())
}

/// Four English words one after the other.
fn english(line: &str) -> Option<String> {
    let words = CODE.replace_all(line, NoExpand(" · "));
    FOUR_WORDS.find(&words).map(|found| found.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const WORDS: &str = r#"
[cells]
"claim: {} against {}" = "$1 对 $2"
"faster" = "更快"
"{n} users, without a pause" = "$1 个用户，不停顿"
[phrases]
"The brackets show a {n} interval, from pairs of runs." = "方括号里是 $1 置信区间。"
"{n} users, without a pause" = "$1 个用户，不停顿"
"Load: {}; {n} pairs of runs." = "负载：$1；$2 对运行。"
"#;

    #[test]
    fn heads_captions_and_values_change_and_code_and_names_stay() {
        let fixture = Fixture::new();
        fixture.write("docs/zh-CN/words.toml", WORDS);
        let words = Words::read(&fixture.path().join("docs/zh-CN/words.toml")).unwrap();
        for (made, expected, missing) in [
            ("4 users, without a pause", "4 个用户，不停顿", vec![]),
            ("2.50 ms", "2.50 ms", vec![]),
            (
                "| claim: fixed against slow | verdict |\n| --- | --- |\n| toy | faster |\n\n*Load: 4 users, \
                 without a pause; 12 pairs of runs. The brackets show a 95.7 % interval, from pairs of runs.*",
                "| fixed 对 slow | verdict |\n| --- | --- |\n| toy | 更快 |\n\n*负载：4 个用户，不停顿；12 对运行。\
                 方括号里是 95.7% 置信区间。*",
                vec!["verdict"],
            ),
            ("```text\nfaster\n| faster |\n```", "```text\nfaster\n| faster |\n```", vec![]),
            (
                "*Wide boxes are slow ones, `of this and that`*",
                "",
                vec!["Wide boxes are slow ones"],
            ),
        ] {
            let (found, lacking) = words.apply(made);
            assert_eq!(
                (&*found, lacking),
                (
                    if expected.is_empty() { made } else { expected },
                    missing.into_iter().map(str::to_owned).collect()
                )
            );
        }
    }
}
