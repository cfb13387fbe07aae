//! The words of the program's output, for readers of the Chinese book: `docs/zh-CN/screen.toml` says what each means.
//!
//! The tables and verdicts of `lab` stay English. So that no word of theirs is left out, this finds the heads and the
//! names of rows in the sources, and in the snapshots of what the tests print.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::LazyLock,
};

use anyhow::Context as _;
use lab_report::Table;
use regex_lite::{Regex, escape};

use super::page::{CHINESE, collect};

/// The file of words, below the Chinese book: for each kind of screen, English words and what they mean.
pub const SCREEN: &str = "screen.toml";
/// The crates that print tables.
const PRINTING: &str = "crates/lab";
/// The topics of `lab doctor`.
const DOCTOR: &str = "crates/lab/system/src/doctor.rs";

/// An array of words that is a head of a table.
static HEADS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:head(?:s|_\w+)?(?:: [^=\n]+)? = (?:vec!)?|Table::\w+\([^\[;]*?)\[([^\]]*)\]")
        .expect("a valid pattern")
});
static TOPICS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)CHECKS: [^=]*= \[(.*?)\];").expect("a valid pattern"));
static LITERALS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""([^"\\]*)""#).expect("a valid pattern"));
static COLUMNS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r" {2,}|\s*\|\s*").expect("a valid pattern"));
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Za-z][^:.\d]*[a-z]{2}").expect("a valid pattern"));

type Meanings = BTreeMap<String, BTreeMap<String, String>>;

fn meanings(root: &Path) -> anyhow::Result<Meanings> {
    let path = root.join(CHINESE).join(SCREEN);
    let Ok(text) = fs::read_to_string(&path) else { return Ok(Meanings::default()) };
    toml::from_str(&text).with_context(|| path.display().to_string())
}

/// The words of one kind of screen and what they mean.
pub fn table(root: &Path, kind: &str) -> anyhow::Result<String> {
    let all = meanings(root)?;
    let words = all.get(kind).ok_or_else(|| {
        lab_cases::unknown("kind of screen", kind, all.keys().map(String::as_str))
    })?;
    let rows = words
        .iter()
        .map(|(word, meaning)| vec![format!("`{}`", word.replace("{}", "…")), meaning.clone()]);
    Ok(Table::new("", ["屏幕上", "意思"], rows).markdown())
}

/// Words of the output that no meaning is given for. None, if there is no file of them.
pub fn unexplained(root: &Path) -> anyhow::Result<Vec<String>> {
    let all = meanings(root)?;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let known: Vec<_> = all
        .values()
        .flat_map(BTreeMap::keys)
        .map(|word| pattern(word))
        .collect::<Result<_, _>>()?;
    let labels = labels(root)?.into_iter();
    Ok(labels.filter(|label| !known.iter().any(|known| known.is_match(label))).collect())
}

fn pattern(word: &str) -> Result<Regex, regex_lite::Error> {
    Regex::new(&format!("^{}$", escape(word).replace("\\{\\}", ".+")))
}

/// The heads, the names of rows and the topics that `lab` can print.
fn labels(root: &Path) -> anyhow::Result<BTreeSet<String>> {
    let [mut sources, mut snapshots] = [Vec::new(), Vec::new()];
    collect(root, PRINTING, ".rs", &mut sources)?;
    collect(root, PRINTING, ".snap", &mut snapshots)?;
    let read = |name: &String| fs::read_to_string(root.join(name));
    let mut labels = BTreeSet::new();
    for name in sources.iter().filter(|name| !name.contains("test")) {
        labels.extend(HEADS.captures_iter(&read(name)?).flat_map(|array| literals(&array[1])));
    }
    for name in &snapshots {
        labels.extend(printed(&read(name)?));
    }
    let doctor = fs::read_to_string(root.join(DOCTOR)).unwrap_or_default();
    labels.extend(TOPICS.captures_iter(&doctor).flat_map(|array| literals(&array[1])));
    labels.retain(|label| WORD.is_match(label));
    Ok(labels)
}

fn literals(array: &str) -> Vec<String> {
    LITERALS.captures_iter(array).map(|found| found[1].to_owned()).collect()
}

/// The heads of the tables in a snapshot: the first of lines that have columns.
fn printed(text: &str) -> Vec<String> {
    let text = text.splitn(3, "---\n").last().unwrap_or_default();
    let mut heads = Vec::new();
    let mut is_table = false;
    for line in text.lines() {
        let cells: Vec<_> = COLUMNS.split(line.trim()).map(str::to_owned).collect();
        let has_columns = cells.len() > 2;
        if has_columns && !is_table {
            heads.extend(cells);
        }
        is_table = has_columns;
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn words_of_heads_and_screens_need_a_meaning() {
        let fixture = Fixture::new();
        fixture.write(
            "docs/zh-CN/screen.toml",
            "[compare]\n\"over {}\" = \"相对\"\n\"claim\" = \"结论\"\n",
        );
        fixture.write(
            "crates/lab/report/src/tables.rs",
            r#"let head = ["claim", &format!("over {baseline}"), "shows"]; let text = "not a head";"#,
        );
        fixture.write(
            "crates/lab/report/src/a.snap",
            "---\nx\n---\n  claim  factor  p99\n  slow   12.0 s   1 ms\n",
        );
        fixture.write(DOCTOR, "const CHECKS: [(&str, Check); 1] = [(\"steal\", steal)];");
        assert_eq!(unexplained(fixture.path()).unwrap(), ["factor", "shows", "steal"]);
        let table = table(fixture.path(), "compare").unwrap();
        let table = table.trim_end();
        assert_eq!(
            table,
            "| 屏幕上 | 意思 |\n| --- | --- |\n| `claim` | 结论 |\n| `over …` | 相对 |"
        );
    }
}
