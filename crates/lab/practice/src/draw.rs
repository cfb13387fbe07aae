//! What a check draws at random, so that no server can know it: its requests, and how long the server has to
//! wait for another one.

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use lab_model::{Answer, Ask, Case};
use lab_stats::SplitMix64;

use crate::wait::Wait;

/// The parts of a check. Each draws numbers of its own from the same seed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    Answers = 1,
    Counts,
    Overtaking,
    Speed,
}

pub(super) struct Draw(SplitMix64);

impl Draw {
    pub fn of(seed: u64, phase: Phase) -> Self {
        Self(SplitMix64(seed ^ ((phase as u64) << 56)))
    }

    /// The request of a line such as `GET /receipts/{1..9}`. A `POST` has this file as its body.
    pub fn ask(&mut self, line: &str, body: &Path) -> anyhow::Result<Ask> {
        let line = self.fill(line)?;
        let (method, path) = line.split_once(' ').context("a request is METHOD PATH")?;
        let body = (method == "POST").then(|| body.to_owned());
        Ok(Ask { method: method.to_owned(), body, ..Ask::get(path, Answer::Any) })
    }

    /// Requests without a body.
    pub fn asks(&mut self, lines: &[String]) -> anyhow::Result<Vec<Ask>> {
        lines.iter().map(|line| self.ask(line, Path::new(""))).collect()
    }

    /// The case with another wait from its range, and that wait; the case itself if it has none.
    pub fn wait(&mut self, case: &Case) -> (Case, Option<Wait>) {
        let mut case = case.clone();
        let Some(wait) = case.check.as_ref().and_then(|check| check.wait.clone()) else {
            return (case, None);
        };
        let ms = self.between(wait.ms);
        for args in [&mut case.args].into_iter().chain(case.count.args.as_mut()) {
            if let Some(flag) = args.iter().position(|arg| *arg == wait.flag)
                && let Some(value) = args.get_mut(flag + 1)
            {
                *value = ms.to_string();
            }
        }
        (case, Some(Wait { time: Duration::from_millis(ms), of: wait.of }))
    }

    /// Replaces each `{FROM..TO}` by a random number of this range, both ends included, and each `{a|b}` by one
    /// of these words.
    fn fill(&mut self, text: &str) -> anyhow::Result<String> {
        let Some((before, rest)) = text.split_once('{') else { return Ok(text.to_owned()) };
        let (choice, rest) = rest.split_once('}').context("a brace is not closed")?;
        let chosen = match choice.split_once("..") {
            Some((from, to)) => self.between([from.parse()?, to.parse()?]).to_string(),
            None => {
                let words: Vec<_> = choice.split('|').collect();
                words[self.between([0, words.len() as u64 - 1]) as usize].to_owned()
            }
        };
        Ok(format!("{before}{chosen}{}", self.fill(rest)?))
    }

    fn between(&mut self, [from, to]: [u64; 2]) -> u64 {
        from + (self.0.uniform() * (1 + to.saturating_sub(from)) as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_becomes_a_number_of_it_and_a_choice_one_of_its_words() {
        let mut draw = Draw::of(7, Phase::Counts);
        let filled: Vec<_> = (0..99).map(|_| draw.fill("{1..3}/{5..5}?{a|bc}").unwrap()).collect();
        let known = |it: &String| {
            let (number, word) = it.split_once("/5?").unwrap();
            ["1", "2", "3"].contains(&number) && ["a", "bc"].contains(&word)
        };
        assert!(filled.iter().all(known), "{filled:?}");
        assert!(
            filled.iter().any(|it| it.ends_with('a')) && filled.iter().any(|it| it.ends_with('c'))
        );
        assert!(draw.fill("{1").is_err() && draw.fill("{1..}").is_err());
    }

    #[test]
    fn a_seed_repeats_a_phase_and_each_phase_draws_its_own() {
        let numbers = |seed, phase| {
            let mut draw = Draw::of(seed, phase);
            [0; 4].map(|_| draw.fill("{1..1000000}").unwrap())
        };
        assert_eq!(numbers(7, Phase::Counts), numbers(7, Phase::Counts));
        assert_ne!(numbers(7, Phase::Counts), numbers(8, Phase::Counts));
        assert_ne!(numbers(7, Phase::Counts), numbers(7, Phase::Speed));
    }
}
