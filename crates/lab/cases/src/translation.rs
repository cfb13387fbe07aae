//! The Chinese texts of a case.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Context as _;
use serde::Deserialize;

use crate::{Case, FIXED, without_expectations};

/// The Chinese texts of one case; what is missing stays English.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Translation {
    /// Stands for the English texts that it translates; `just docs` checks it.
    pub translates: String,
    pub question: Option<String>,
    pub hints: Vec<String>,
    pub wrong: BTreeMap<String, String>,
    pub steps_note: Option<String>,
    pub solution: Option<String>,
    /// Parts of sentences, such as `the other service`, by their English words.
    pub words: BTreeMap<String, String>,
}

impl Translation {
    /// Where they are, below the root of the workspace.
    pub const FILE: &str = "docs/zh-CN/practice.toml";

    /// The translations of all cases, by the names of their directories; empty without a file.
    ///
    /// # Errors
    ///
    /// If the file is there and can't be read.
    pub fn all(root: &Path) -> anyhow::Result<BTreeMap<String, Self>> {
        let path = root.join(Self::FILE);
        if !path.is_file() {
            return Ok(BTreeMap::new());
        }
        let text = fs::read_to_string(&path)?;
        toml::from_str(&text).with_context(|| format!("correct {}", path.display()))
    }
}

impl Case {
    /// The case in the words of a translation.
    pub fn translated(&self, translation: &Translation) -> Self {
        let mut case = self.clone();
        let Translation { question, hints, wrong, steps_note, words, .. } = translation.clone();
        case.question = question.unwrap_or(case.question);
        case.steps_note = steps_note.or(case.steps_note);
        case.predict.wrong.extend(wrong);
        let Some(check) = &mut case.check else { return case };
        for (hint, translated) in check.hints.iter_mut().zip(hints) {
            *hint = translated;
        }
        check.parts().into_iter().for_each(|part| {
            if let Some(translated) = words.get(part) {
                part.clone_from(translated);
            }
        });
        case
    }

    /// All English texts that a translation translates, with a name for each.
    ///
    /// # Errors
    ///
    /// If the source of our fix can't be read.
    pub fn texts(&self) -> anyhow::Result<Vec<(String, String)>> {
        let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let mut texts = vec![named("question", &self.question)];
        let mut check = self.check.clone();
        if let Some(check) = &mut check {
            texts.extend(check.hints.iter().map(|hint| named("hints", hint)));
            let parts = check.parts().into_iter();
            texts.extend(parts.map(|part| named(&format!("words.{part}"), part)));
        }
        let wrong = &self.predict.wrong;
        texts.extend(wrong.iter().map(|(suspect, how)| named(&format!("wrong.{suspect}"), how)));
        texts.extend(self.steps_note.iter().map(|note| named("steps_note", note)));
        if self.contest.is_none() {
            texts.push(("solution".to_owned(), self.solution()?));
        }
        Ok(texts)
    }

    /// A description of our fix: the comment at the top of its source.
    ///
    /// # Errors
    ///
    /// If the source can't be read.
    pub fn solution(&self) -> anyhow::Result<String> {
        let path = self.source(FIXED);
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let text = without_expectations(&text);
        let words = text.lines().map_while(|line| line.strip_prefix("//!"));
        Ok(words.map(str::trim).collect::<Vec<_>>().join("\n"))
    }
}
