//! The Chinese texts of `lab`: files apart from the pages, each with many texts. A text begins with a heading, and the
//! line below it says what it translates: `translates = "5d1c0f3a"` in TOML, `<!-- 5d1c0f3a -->` in Markdown. Like a
//! page, a text is never an error: a note says what its translator can do.
//!
//! The sentences in the code are another file: it has the English ones themselves.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Context as _;
use lab_cases::{SUSPECTS, Translation, Workspace};
use lab_system::write_whole;
use regex_lite::Regex;
use serde::Deserialize;

use super::{page::collect, translated_pages::checksum};

const CODES: &str = "crates/lab/report/src/codes.zh.md";
const RULES: &str = "crates/lab/triage/src/rules.zh.toml";
const SENTENCES: &str = "crates/lab/report/src/sentences.zh.toml";
/// Where the sentences are said, and where the parts of them are.
const SPEAKING: [&str; 4] = [
    "crates/lab/cli/src",
    "crates/lab/practice/src",
    "crates/lab/pictures/src/all_results",
    "crates/lab/cases/src/prediction.rs",
];

/// The English texts of a file, by their headings; none for a file with other texts.
type English = BTreeMap<String, String>;

#[derive(Deserialize)]
struct EnglishRules {
    rule: Vec<EnglishRule>,
}

#[derive(Deserialize)]
struct EnglishRule {
    id: String,
    title: String,
    refute: String,
    fix: String,
}

/// Notes on what the translators of all these files can do.
///
/// # Errors
///
/// If a file is there and can't be read.
pub fn notes(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let mut notes = Vec::new();
    for file in [Translation::FILE, CODES, RULES] {
        let Ok(text) = fs::read_to_string(workspace.root().join(file)) else { continue };
        let how = format!("then `just docs --translated {file}`");
        let mut english = english(workspace, file)?.unwrap_or_default();
        for (heading, of) in marks(&text) {
            match english.remove(heading) {
                Some(now) if of == Some(&checksum(&now)) => {}
                Some(_) => notes.push(format!(
                    "{file}: [{heading}] translates older English: translate the change, {how}"
                )),
                None => notes.push(format!("{file}: [{heading}] has no English text any more")),
            }
        }
        let missing = english.keys();
        notes.extend(missing.map(|id| format!("{file}: [{id}] is missing: translate it, {how}")));
    }
    notes.extend(sentences(workspace.root())?);
    Ok(notes)
}

/// Writes below each heading of a file that it translates the English as it is today. `None` for a page.
///
/// # Errors
///
/// If the file, or what it translates, cannot be read or written.
pub fn translated(workspace: &Workspace, file: &str) -> anyhow::Result<Option<String>> {
    let Some(english) = english(workspace, file)? else { return Ok(None) };
    let path = workspace.root().join(file);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {file}"))?;
    let mut written = String::new();
    for line in text.lines().filter(|line| mark(line).is_none()) {
        written += &format!("{line}\n");
        let Some(of) = heading(line).and_then(|id| english.get(id)).map(|text| checksum(text))
        else {
            continue;
        };
        let is_toml = line.starts_with('[');
        let mark =
            if is_toml { format!("translates = \"{of}\"\n") } else { format!("<!-- {of} -->\n") };
        written += &mark;
    }
    write_whole(&path, &written)?;
    Ok(Some(format!("{} texts", english.len())))
}

fn english(workspace: &Workspace, file: &str) -> anyhow::Result<Option<English>> {
    let read = |path: &str| {
        let text = fs::read_to_string(workspace.root().join(path));
        text.with_context(|| format!("cannot read {path}"))
    };
    Ok(Some(match file {
        Translation::FILE => {
            let text = |case: lab_cases::Case| {
                let texts = case.texts()?.into_iter().map(|(name, text)| format!("{name} {text}"));
                Ok((case.name.clone(), texts.collect::<Vec<_>>().join("\n")))
            };
            workspace.cases_and_exercises()?.into_iter().map(text).collect::<anyhow::Result<_>>()?
        }
        CODES => {
            let codes = read("crates/lab/report/src/codes.md")?;
            let sections = codes.split("## ").skip(1);
            // The quoted sentence stays English.
            let text = |section: &str| {
                let mut texts: Vec<_> = section.split("\n\n").collect();
                let code = texts.remove(0).trim().to_owned();
                texts.retain(|text| !text.starts_with('>'));
                (code, texts.join("\n\n"))
            };
            sections.map(text).collect()
        }
        RULES => {
            let EnglishRules { rule } = toml::from_str(&read("crates/lab/triage/src/rules.toml")?)?;
            let text =
                |rule: EnglishRule| (rule.id, [rule.title, rule.refute, rule.fix].join("\n"));
            rule.into_iter().map(text).collect()
        }
        _ => return Ok(None),
    }))
}

/// Each heading of a text, with the mark in the line below it.
fn marks(text: &str) -> Vec<(&str, Option<&str>)> {
    let below = text.lines().skip(1).chain([""]);
    let pairs = text.lines().zip(below);
    pairs.filter_map(|(line, below)| Some((heading(line)?, mark(below)))).collect()
}

/// `[lock-scope]`, but not `[lock-scope.wrong]`; or `## steal`.
fn heading(line: &str) -> Option<&str> {
    let of_table = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    of_table.filter(|name| !name.contains('.')).or_else(|| line.strip_prefix("## "))
}

fn mark(line: &str) -> Option<&str> {
    let within = |start, end| line.strip_prefix(start)?.strip_suffix(end);
    within("translates = \"", "\"").or_else(|| within("<!-- ", " -->"))
}

/// Sentences of the code that are not translated, and translations of what no code says any more.
fn sentences(root: &Path) -> anyhow::Result<Vec<String>> {
    let Ok(text) = fs::read_to_string(root.join(SENTENCES)) else { return Ok(Vec::new()) };
    let known: BTreeMap<String, String> = toml::from_str(&text).context(SENTENCES)?;
    let mut files = Vec::new();
    for path in SPEAKING {
        if root.join(path).is_dir() {
            collect(root, path, ".rs", &mut files)?;
        } else if root.join(path).is_file() {
            files.push(path.to_owned());
        }
    }
    let sources = files.iter().map(|name| fs::read_to_string(root.join(name)));
    let sources = sources.collect::<Result<String, _>>()?;
    // As the compiler reads them.
    let sources = Regex::new(r"\\\n\s*")?.replace_all(&sources, "").replace("\\\"", "\u{0}");
    let said = Regex::new("\\btranslate!\\(\\s*\"([^\"]*)\"")?;
    let said = said.captures_iter(&sources).map(|found| found[1].replace('\u{0}', "\""));
    let said = said.chain(SUSPECTS.map(|kind| kind.shown_by.to_owned()));
    let missing = said.filter(|sentence| !known.contains_key(sentence));
    let mut notes: Vec<_> = missing
        .map(|sentence| format!("{SENTENCES}: `{sentence}` is missing: translate it"))
        .collect();
    let is_said =
        |sentence: &&String| sources.contains(&format!("\"{}\"", sentence.replace('"', "\u{0}")));
    let gone = known.keys().filter(|sentence| !is_said(sentence));
    notes.extend(
        gone.map(|sentence| {
            format!("{SENTENCES}: `{sentence}` is in no source any more: remove it")
        }),
    );
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fixture::Fixture;

    /// The notes of a fixture without what its files lack anyway.
    fn noted(fixture: &Fixture) -> Vec<String> {
        let mut notes = notes(&fixture.workspace()).unwrap();
        notes.retain(|note| SUSPECTS.iter().all(|suspect| !note.contains(suspect.shown_by)));
        notes
    }

    #[test]
    fn each_text_that_is_missing_or_older_is_noted_until_it_is_translated() {
        let fixture = Fixture::new();
        assert!(notes(&fixture.workspace()).unwrap().is_empty(), "nothing without a translation");
        let texts = "# 题\n[toy]\nquestion = \"问\"\n\n[gone]\nquestion = \"无\"\n";
        fixture.write(Translation::FILE, texts);
        fixture.write("crates/lab/report/src/codes.md", "## a\n\n> s {x}\n\nm\n\n## b\n\nm\n");
        fixture.write(CODES, "## a\n<!-- 00000000 -->\n\n意\n");
        fixture.write(SENTENCES, "\"Not {said}\" = \"不\"\n\"a \\\"b\\\" c\" = \"甲\"\n");
        let code = "translate!(\n \"a \\\"b\\\" \\\n c\"); translate!(\"New {n}\", n)";
        fixture.write("crates/lab/cli/src/main.rs", code);
        fixture.write("crates/lab/practice/src/lib.rs", "");
        let how = format!("then `just docs --translated {}`", Translation::FILE);
        let all = noted(&fixture);
        let codes = format!("then `just docs --translated {CODES}`");
        assert_eq!(
            all,
            [
                format!(
                    "{}: [toy] translates older English: translate the change, {how}",
                    Translation::FILE
                ),
                format!("{}: [gone] has no English text any more", Translation::FILE),
                format!("{CODES}: [a] translates older English: translate the change, {codes}"),
                format!("{CODES}: [b] is missing: translate it, {codes}"),
                format!("{SENTENCES}: `New {{n}}` is missing: translate it"),
                format!("{SENTENCES}: `Not {{said}}` is in no source any more: remove it"),
            ]
        );
        for file in [Translation::FILE, CODES] {
            translated(&fixture.workspace(), file).unwrap().unwrap();
        }
        let left = [&all[1], &all[3], &all[4], &all[5]].map(String::clone);
        assert_eq!(noted(&fixture), left);
        // However lines are broken, and whatever a code's sentence is.
        fixture.write("crates/lab/report/src/codes.md", "## a\n\n> t\n\nm\n\n## b\n\nm\n");
        assert_eq!(noted(&fixture), left);
        fixture.write("crates/toy/src/fixed.rs", "//! Fixed otherwise.\n");
        assert_eq!(noted(&fixture)[0], all[0]);
        assert_eq!(translated(&fixture.workspace(), "docs/zh-CN/src/README.md").unwrap(), None);
    }

    fn names(text: &str) -> BTreeSet<String> {
        text.split('{').skip(1).map(|slot| slot.split('}').next().unwrap().to_owned()).collect()
    }

    /// The real files: what a typing mistake would make useless.
    #[test]
    fn every_translation_is_of_something() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let workspace = Workspace::find(Some(&root), Some(&root)).unwrap();
        for file in [Translation::FILE, CODES, RULES] {
            let text = fs::read_to_string(root.join(file)).unwrap();
            let english = english(&workspace, file).unwrap().unwrap();
            for (heading, _) in marks(&text) {
                assert!(english.contains_key(heading), "{file}: [{heading}]");
            }
        }
        let translations = Translation::all(&root).unwrap();
        for case in workspace.cases_and_exercises().unwrap() {
            let Some(translation) = translations.get(&case.name) else { continue };
            let english: BTreeSet<_> =
                case.texts().unwrap().into_iter().map(|(name, _)| name).collect();
            let keys = [("wrong", &translation.wrong), ("words", &translation.words)];
            for (table, key) in
                keys.iter().flat_map(|(name, texts)| texts.keys().map(move |k| (name, k)))
            {
                assert!(
                    english.contains(&format!("{table}.{key}")),
                    "{}: {table}.{key}",
                    case.name
                );
            }
            let hints = case.check.as_ref().map_or(0, |check| check.hints.len());
            assert_eq!(translation.hints.len(), hints, "{}", case.name);
            assert!(translation.steps_note.is_none() || case.steps_note.is_some(), "{}", case.name);
        }
    }

    #[test]
    fn a_translated_sentence_fills_in_the_same() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let text = fs::read_to_string(root.join(SENTENCES)).unwrap();
        let sentences: BTreeMap<String, String> = toml::from_str(&text).unwrap();
        for (english, chinese) in sentences {
            assert_eq!(names(&english), names(&chinese), "{english}");
            let plain = names(&english).into_iter().all(|name| {
                name.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
            });
            assert!(plain, "{english}: values come formatted");
        }
        let gone = super::sentences(&root).unwrap();
        let gone: Vec<_> = gone.iter().filter(|note| note.contains("in no source")).collect();
        assert!(gone.is_empty(), "{gone:?}");
    }
}
