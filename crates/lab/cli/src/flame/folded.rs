//! Folded stacks: the plain text that every tool for flame graphs reads and writes.

use std::{collections::BTreeMap, fmt, str::FromStr};

use anyhow::Context as _;

/// Stacks of frames, the outermost first, and what was spent in each of them: samples,
/// nanoseconds or bytes, as whoever made them says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded(BTreeMap<Vec<String>, u64>);

impl Folded {
    /// Adds what was spent in a stack to what it holds already.
    pub fn add(&mut self, stack: Vec<String>, spent: u64) {
        *self.0.entry(stack).or_default() += spent;
    }

    /// Every stack with what was spent in it, in the order of the stacks.
    pub fn iter(&self) -> impl Iterator<Item = (&[String], u64)> {
        self.0.iter().map(|(stack, spent)| (stack.as_slice(), *spent))
    }

    /// What was spent in all of them.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Whether nothing was spent.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// The same shares of another total, such as the CPU time of one request for samples.
    ///
    /// Rounded down, so that what a stack loses by it is less than one.
    pub fn scaled_to(&self, total: u64) -> Self {
        let own = u128::from(self.total().max(1));
        let scale = |spent: u64| u64::try_from(u128::from(spent) * u128::from(total) / own);
        let scaled = self.0.iter().filter_map(|(stack, spent)| {
            Some((stack.clone(), scale(*spent).ok().filter(|spent| *spent > 0)?))
        });
        Self(scaled.collect())
    }
}

impl FromIterator<(Vec<String>, u64)> for Folded {
    fn from_iter<I: IntoIterator<Item = (Vec<String>, u64)>>(stacks: I) -> Self {
        let mut folded = Self::default();
        stacks.into_iter().for_each(|(stack, spent)| folded.add(stack, spent));
        folded
    }
}

/// A line a stack: `main;handler;parse 42`.
impl fmt::Display for Folded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (stack, spent) in self.iter() {
            // The separator cannot be part of a frame.
            let frames: Vec<_> = stack.iter().map(|frame| frame.replace(';', ":")).collect();
            writeln!(f, "{} {spent}", frames.join(";"))?;
        }
        Ok(())
    }
}

impl FromStr for Folded {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let stack = |line: &str| {
            let (stack, spent) = line.rsplit_once(' ').context("there is no number")?;
            let spent = spent.parse().with_context(|| format!("`{spent}` is no number"))?;
            anyhow::Ok((stack.split(';').map(str::to_owned).collect(), spent))
        };
        text.lines()
            .map(|line| stack(line).with_context(|| format!("not a folded stack: `{line}`")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let text = "main;handler 2\nmain;handler;parse a b 40\n";
        let folded: Folded = text.parse().unwrap();
        assert_eq!(folded.to_string(), text);
        assert_eq!(folded.total(), 42);
        assert!("main;handler".parse::<Folded>().is_err());
    }

    #[test]
    fn a_stack_that_comes_twice_is_added_up() {
        let folded: Folded = "a;b 1\na;b 2\n".parse().unwrap();
        assert_eq!(folded.to_string(), "a;b 3\n");
    }

    #[test]
    fn scaling_keeps_the_shares() {
        let folded: Folded = "a 1\nb 3\n".parse().unwrap();
        assert_eq!(folded.scaled_to(4_000_000).to_string(), "a 1000000\nb 3000000\n");
        assert_eq!(Folded::default().scaled_to(7), Folded::default());
    }
}
