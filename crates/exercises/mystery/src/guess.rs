//! The player's answer: first in their own words, and only then by the names of faults, which would be hints.

use std::io::{BufRead, Write};

use anyhow::Context as _;

use crate::faults::{self, Fault};

/// What the player said.
#[derive(Debug, PartialEq)]
pub struct Guess {
    /// In their own words; empty if they named the faults at once.
    pub words: String,
    pub faults: Vec<Fault>,
}

impl Guess {
    /// Asks for what the player suspects, unless it was `typed` already. Words that are no names are followed by the
    /// list of names.
    ///
    /// # Errors
    ///
    /// If the input ends before there is an answer, or if it can't be read.
    pub fn ask(typed: &str, input: impl BufRead, mut output: impl Write) -> anyhow::Result<Self> {
        let mut lines = input.lines();
        let mut ask = |question: &str| -> anyhow::Result<String> {
            write!(output, "{question} ")?;
            output.flush()?;
            let line = lines.next().transpose()?;
            Ok(line.context("no answer, so nothing was judged")?.trim().to_owned())
        };
        let mut words = typed.trim().to_owned();
        while words.is_empty() {
            words = ask("What is wrong with this server, in your own words?")?;
        }
        if let Ok(faults) = faults::parse(&words) {
            return Ok(Self { words: String::new(), faults });
        }
        let list = faults::list()?;
        let mut question =
            format!("\n{list}\nWhich of these did you mean? One, or two with a comma between:");
        loop {
            match faults::parse(&ask(&question)?) {
                Ok(faults) => return Ok(Self { words, faults }),
                Err(why) => question = format!("  {why}\nWhich one?"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::HEALTHY;

    fn asked(typed: &str, input: &str) -> (anyhow::Result<Guess>, String) {
        let mut output = Vec::new();
        let guess = Guess::ask(typed, input.as_bytes(), &mut output);
        (guess, String::from_utf8(output).unwrap())
    }

    #[test]
    fn the_names_are_shown_only_after_the_players_own_words() {
        let words = "everybody waits for one guard";
        let (guess, shown) = asked("", &format!("{words}\nlok\nlock\n"));
        let expected = Guess { words: words.to_owned(), faults: vec![Fault::Lock] };
        assert_eq!(guess.unwrap(), expected);
        let (before, after) = shown.split_once("own words? ").unwrap();
        assert!(!before.contains("lock") && after.contains("a lock is held across a wait"));
        assert!(after.contains("did you mean `lock`?"), "{after}");
        let (same, _) = asked(words, "lock\n");
        assert_eq!(same.unwrap(), expected);
    }

    #[test]
    fn who_knows_the_names_is_asked_nothing_more() {
        for (typed, input) in [("regex, lock", ""), ("", "\nlock,regex\n")] {
            let (guess, shown) = asked(typed, input);
            let faults = vec![Fault::Lock, Fault::Regex];
            assert_eq!(guess.unwrap(), Guess { words: String::new(), faults });
            assert!(!shown.contains(HEALTHY), "{shown}");
        }
    }

    #[test]
    fn an_input_that_ends_judges_nothing() {
        for input in ["", "it is slow\n", "it is slow\nslow\n"] {
            let error = asked("", input).0.unwrap_err().to_string();
            assert_eq!(error, "no answer, so nothing was judged");
        }
    }
}
