//! Draws at random for a check: its requests, so that kept answers don't pass for less work, and how long the server
//! has to wait for another one.

use std::{collections::BTreeMap, fs, time::Duration};

use anyhow::{Context as _, ensure};
use lab_cases::Case;
use lab_protocol::{Answer, Request, RequestSlot, fill};
use lab_servers::Scratch;
use lab_stats::SplitMix64;

/// The parts of a check. Each draws numbers of its own from the same seed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    Answers = 1,
    Counts,
    Overtaking,
    Speed,
}

/// The length of the body of a `POST` without one, in bytes.
const BODY: usize = 4_000;

/// A wait for another service that was drawn.
#[derive(Clone, Debug)]
pub(super) struct DrawnWait {
    pub time: Duration,
    /// The name of the upstream that takes that long, such as `the directory`.
    pub of: String,
}

pub(super) struct Draw {
    random: SplitMix64,
    /// The bodies of its requests.
    files: Scratch,
}

impl Draw {
    pub fn of(seed: u64, phase: Phase) -> anyhow::Result<Self> {
        let random = SplitMix64(seed ^ ((phase as u64) << 56));
        Ok(Self { random, files: Scratch::new()? })
    }

    /// The request of a line such as `GET /receipts/{1..9}`. What follows the path of a `POST` is its body, in a file
    /// that is there as long as this draw.
    pub fn ask(&mut self, line: &str) -> anyhow::Result<Request> {
        let line = self.fill(line);
        let (method, rest) = line.split_once(' ').context("a request is METHOD PATH")?;
        let (path, body) = match rest.split_once(' ') {
            Some((path, body)) => (path, body.to_owned()),
            None => (rest, "x".repeat(BODY)),
        };
        ensure!(!path.contains(['{', '}']), "`{path}`: a range is {{FROM..TO}}, a choice {{a|b}}");
        let body = (method == "POST").then(|| {
            let file = self.files.path().join(format!("{:08x}", crc32fast::hash(body.as_bytes())));
            fs::write(&file, body).context("cannot write a body").map(|()| file)
        });
        let body = body.transpose()?;
        Ok(Request { method: method.to_owned(), body, ..Request::get(path, Answer::Any) })
    }

    pub fn requests(&mut self, lines: &[String]) -> anyhow::Result<Vec<Request>> {
        lines.iter().map(|line| self.ask(line)).collect()
    }

    /// The case with another wait from its range, and that wait; the case itself if it has none.
    pub fn wait(&mut self, case: &Case) -> (Case, Option<DrawnWait>) {
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
        (case, Some(DrawnWait { time: Duration::from_millis(ms), of: wait.of }))
    }

    /// Replaces each `{FROM..TO}` by a random number of this range, both ends included, and each `{a|b}` by one
    /// of these words. All other braces stay, such as those of JSON and of templates.
    pub fn fill(&mut self, text: &str) -> String {
        fill(text, |inner| RequestSlot::choice(inner)?.draw(&mut self.random, &BTreeMap::new()))
    }

    fn between(&mut self, [from, to]: [u64; 2]) -> u64 {
        from + (self.random.uniform() * (1 + to.saturating_sub(from)) as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_becomes_one_of_its_values() {
        let mut draw = Draw::of(7, Phase::Counts).unwrap();
        let filled: Vec<_> = (0..99).map(|_| draw.fill("{1..3}/{5..5}?{a|bc}")).collect();
        let known = |request: &String| {
            let (number, word) = request.split_once("/5?").unwrap();
            ["1", "2", "3"].contains(&number) && ["a", "bc"].contains(&word)
        };
        assert!(filled.iter().all(known), "{filled:?}");
        assert!(
            filled.iter().any(|request| request.ends_with('a'))
                && filled.iter().any(|request| request.ends_with('c'))
        );
        assert!(draw.ask("GET /{1").is_err() && draw.ask("GET /{1..}").is_err());
        for (text, filled) in [
            (r#"{"user":"{ada|ada}"}"#, r#"{"user":"ada"}"#),
            ("{{ number }} of {7..7}", "{{ number }} of 7"),
            ("{% if it %}{1|1}{% endif %}", "{% if it %}1{% endif %}"),
            ("{{ it.total|money }} of {7..7}", "{{ it.total|money }} of 7"),
        ] {
            assert_eq!(draw.fill(text), filled);
        }
    }

    #[test]
    fn the_rest_of_a_post_is_its_body() {
        let mut draw = Draw::of(7, Phase::Answers).unwrap();
        let request = draw.ask(r#"POST /login {"user":"{ada|ada}"}"#).unwrap();
        assert_eq!((&*request.method, &*request.path), ("POST", "/login"));
        let body = fs::read_to_string(request.body.unwrap()).unwrap();
        assert_eq!(body, r#"{"user":"ada"}"#);
        let request = draw.ask("POST /login").unwrap();
        assert_eq!(fs::read(request.body.unwrap()).unwrap().len(), BODY);
        assert_eq!(draw.ask("PUT /a/1").unwrap().body, None);
    }

    #[test]
    fn a_seed_repeats_a_phase_and_each_phase_draws_its_own() {
        let numbers = |seed, phase| {
            let mut draw = Draw::of(seed, phase).unwrap();
            [0; 4].map(|_| draw.fill("{1..1000000}"))
        };
        assert_eq!(numbers(7, Phase::Counts), numbers(7, Phase::Counts));
        assert_ne!(numbers(7, Phase::Counts), numbers(8, Phase::Counts));
        assert_ne!(numbers(7, Phase::Counts), numbers(7, Phase::Speed));
    }
}
