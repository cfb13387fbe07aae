//! The score: which servers you examined, what you said, and what was wrong with them. One text file.

use std::{fs, io::Write as _, path::Path};

use anyhow::Context as _;
use serde::Deserialize;

use crate::faults::{Fault, shown};

/// Below the directory in which you play.
pub const FILE: &str = ".practice/mystery.toml";
const HEAD: &str =
    "# Your mystery servers. You may edit this file. It never leaves this machine.\n";

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// The seed of the server that was started last.
    pub open: Option<u32>,
    /// Your first answer for each seed.
    #[serde(default)]
    pub answer: Vec<Answer>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub date: String,
    pub seed: u32,
    /// In your own words, before you saw the names.
    #[serde(default)]
    pub words: String,
    pub said: Vec<Fault>,
    pub truth: Vec<Fault>,
}

impl Score {
    /// Reads the file; without one, the score is empty.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("correct {}, or delete it", path.display()))
    }

    /// Writes the file in one step.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut text = HEAD.to_owned();
        if let Some(seed) = self.open {
            text += &format!("open = {seed}\n");
        }
        for Answer { date, seed, words, said, truth } in &self.answer {
            // Strings and lists of strings look the same in JSON and in TOML.
            let [said, truth] = [said, truth].map(serde_json::to_string);
            let [date, words] = [date, words].map(serde_json::to_string);
            let (date, words, said, truth) = (date?, words?, said?, truth?);
            text += &format!(
                "\n[[answer]]\ndate = {date}\nseed = {seed}\nwords = {words}\nsaid = {said}\ntruth = {truth}\n"
            );
        }
        let dir = path.parent().context("the score has a directory")?;
        let written = fs::create_dir_all(dir).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            file.write_all(text.as_bytes())?;
            Ok(file.persist(path)?)
        });
        written.map(drop).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Adds an answer; `false` if there is one for this seed, which counts.
    pub fn add(&mut self, answer: Answer) -> bool {
        let is_first = self.answer.iter().all(|it| it.seed != answer.seed);
        self.answer.extend(is_first.then_some(answer));
        is_first
    }

    /// The last answers and the totals, as lines of text.
    pub fn text(&self, last: usize) -> anyhow::Result<String> {
        let mut text = String::new();
        let sum = |of: fn(&Answer) -> usize| self.answer.iter().map(of).sum::<usize>();
        for answer in self.answer.iter().skip(self.answer.len().saturating_sub(last)) {
            let (said, truth) = (shown(&answer.said)?, shown(&answer.truth)?);
            let mark = if answer.said == answer.truth { "right" } else { "wrong" };
            text += &format!(
                "  {}  {:>6}  {mark:<5}  you said {said:<16}  it was {truth}\n",
                answer.date, answer.seed
            );
        }
        text += &format!(
            "  servers right: {} of {}; faults named: {} of {}; false alarms: {}\n",
            sum(|it| usize::from(it.said == it.truth)),
            self.answer.len(),
            sum(|it| it.truth.iter().filter(|fault| it.said.contains(fault)).count()),
            sum(|it| it.truth.len()),
            sum(|it| it.said.iter().filter(|fault| !it.truth.contains(fault)).count()),
        );
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(seed: u32, said: &[Fault], truth: &[Fault]) -> Answer {
        let (date, words) = ("2026-11-23".to_owned(), "it \"waits\"".to_owned());
        Answer { date, seed, words, said: said.into(), truth: truth.into() }
    }

    #[test]
    fn only_the_first_answer_for_a_server_counts() {
        let mut score = Score { open: Some(7), answer: Vec::new() };
        assert!(score.add(answer(7, &[Fault::Lock], &[Fault::Lock])));
        assert!(!score.add(answer(7, &[], &[Fault::Lock])));
        assert!(score.add(answer(8, &[Fault::Regex], &[Fault::Clone, Fault::Pool])));
        assert!(score.add(answer(9, &[], &[])));
        let text = score.text(2).unwrap();
        assert!(text.ends_with("servers right: 2 of 3; faults named: 1 of 3; false alarms: 1\n"));
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn a_score_survives_its_file() {
        let path = tempfile::tempdir().unwrap().keep().join(FILE);
        assert_eq!(Score::read(&path).unwrap(), Score::default());
        let mut score = Score { open: Some(7), answer: Vec::new() };
        assert!(score.add(answer(7, &[Fault::Lock], &[Fault::Lock])));
        score.write(&path).unwrap();
        assert_eq!(Score::read(&path).unwrap(), score);
        fs::remove_dir_all(path.parent().unwrap().parent().unwrap()).unwrap();
    }

    #[test]
    fn a_file_with_a_mistake_says_where_it_is_and_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mystery.toml");
        for wrong in ["open = \"x\"", "opn = 7", "[[answer]]\nseed = 7", "open = "] {
            fs::write(&path, wrong).unwrap();
            let error = format!("{:#}", Score::read(&path).unwrap_err());
            assert!(error.contains("correct ") && error.contains("line 1"), "{error}");
        }
    }
}
