//! Folded stacks: the plain text that every flame graph tool reads and writes.

use std::{collections::BTreeMap, fmt, str::FromStr};

use anyhow::Context as _;

/// Stacks of frames, the outermost frame first, each with its weight: samples, nanoseconds or bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded(BTreeMap<Vec<String>, u64>);

impl Folded {
    /// Adds a stack. The names are those of somebody else's functions.
    pub fn add(&mut self, mut stack: Vec<String>, weight: u64) {
        for name in &mut stack {
            if !name.is_ascii() || name.contains(|character: char| character.is_control()) {
                *name = lab_system::escaped(name);
            }
        }
        *self.0.entry(stack).or_default() += weight;
    }

    /// Every stack with its weight, sorted by the names of its frames.
    pub fn iter(&self) -> impl Iterator<Item = (&[String], u64)> {
        self.0.iter().map(|(stack, weight)| (stack.as_slice(), *weight))
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// The share of the weight below functions that `is` accepts, from 0 to 1. It gets their demangled
    /// names; those of the kernel end in `_[k]`.
    pub fn share(&self, is: impl Fn(&str) -> bool) -> f64 {
        let shares = self.shares(|name| if is(name) { vec![()] } else { vec![] });
        shares.get(&()).copied().unwrap_or_default()
    }

    /// The share of the weight below the functions of each group, from 0 to 1, without the groups that have
    /// none. `groups` gets a name as in [`Folded::share`], once for each.
    pub fn shares<G: Copy + Ord>(&self, groups: impl Fn(&str) -> Vec<G>) -> BTreeMap<G, f64> {
        let mut shares = BTreeMap::new();
        for (within, share) in self.shares_of_sets(groups) {
            for group in within {
                *shares.entry(group).or_default() += share;
            }
        }
        shares
    }

    /// The share of the weight of each set of groups: of the stacks that lead through all of them, and through no
    /// other one.
    pub fn shares_of_sets<G: Copy + Ord>(
        &self,
        groups: impl Fn(&str) -> Vec<G>,
    ) -> BTreeMap<Vec<G>, f64> {
        let total = self.total().max(1) as f64;
        let (mut known, mut shares) = (BTreeMap::new(), BTreeMap::new());
        for (stack, weight) in self.iter() {
            let of = |frame: &String| groups(&format!("{:#}", rustc_demangle::demangle(frame)));
            let mut within: Vec<G> = Vec::new();
            for frame in stack {
                within.extend_from_slice(known.entry(frame).or_insert_with(|| of(frame)));
            }
            within.sort_unstable();
            within.dedup();
            *shares.entry(within).or_default() += weight as f64 / total;
        }
        shares
    }

    /// Whether no stack has any weight.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// These stacks with the names that the source has.
    pub fn demangled(&self) -> Self {
        let name = |frame: &String| format!("{:#}", rustc_demangle::demangle(frame));
        self.iter().map(|(stack, weight)| (stack.iter().map(name).collect(), weight)).collect()
    }

    /// These stacks with their shares of another total, such as the CPU time of one request.
    ///
    /// Each stack is off by less than one unit, and the total is exact.
    pub fn scaled_to(&self, total: u64) -> Self {
        let own = u128::from(self.total().max(1));
        // Rounded are the sums, so that the parts have this total.
        let scale = |sum: u128| (sum * u128::from(total) / own) as u64;
        let (mut sum, mut scaled) = (0, BTreeMap::new());
        for (stack, weight) in &self.0 {
            let before = scale(sum);
            sum += u128::from(*weight);
            let part = scale(sum) - before;
            if part > 0 {
                scaled.insert(stack.clone(), part);
            }
        }
        Self(scaled)
    }
}

impl FromIterator<(Vec<String>, u64)> for Folded {
    fn from_iter<I: IntoIterator<Item = (Vec<String>, u64)>>(stacks: I) -> Self {
        let mut folded = Self::default();
        stacks.into_iter().for_each(|(stack, weight)| folded.add(stack, weight));
        folded
    }
}

/// Writes a line for each stack, such as `main;handler;parse 42`.
impl fmt::Display for Folded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (stack, weight) in self.iter() {
            // The separator cannot be part of a frame.
            let frames: Vec<_> = stack.iter().map(|frame| frame.replace(';', ":")).collect();
            writeln!(f, "{} {weight}", frames.join(";"))?;
        }
        Ok(())
    }
}

impl FromStr for Folded {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let stack = |line: &str| {
            let (stack, weight) = line.rsplit_once(' ').context("the weight is missing")?;
            let weight = weight.parse().with_context(|| format!("`{weight}` is not a number"))?;
            anyhow::Ok((stack.split(';').map(str::to_owned).collect(), weight))
        };
        let (mut folded, mut total) = (Self::default(), 0_u64);
        for line in text.lines() {
            let odd = || format!("not a folded stack: `{line}`");
            let (stack, weight) = stack(line).with_context(odd)?;
            total =
                total.checked_add(weight).context("the weights are too large").with_context(odd)?;
            folded.add(stack, weight);
        }
        Ok(folded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_a_round_trip() {
        let text = "main;handler 2\nmain;handler;parse a b 40\n";
        let folded: Folded = text.parse().unwrap();
        assert_eq!(folded.to_string(), text);
        assert_eq!(folded.total(), 42);
    }

    #[test]
    fn equal_stacks_add_up() {
        assert_eq!("a;b 1\na;b 2\n".parse::<Folded>().unwrap().to_string(), "a;b 3\n");
    }

    #[test]
    fn a_line_without_a_count_is_an_error() {
        for wrong in ["main;handler", "main -1", "a 9\nb 18446744073709551615"] {
            assert!(wrong.parse::<Folded>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn demangled_names_lose_their_hash_and_their_semicolons() {
        let text =
            "_ZN4main4work17h0123456789abcdefE;_RINvCscPdqpYx78pI_8rust_out3fooAhj2_EB2_;read 2\n";
        let folded: Folded = text.parse().unwrap();
        assert_eq!(folded.demangled().to_string(), "main::work;rust_out::foo::<[u8: 2]>;read 2\n");
    }

    #[test]
    fn a_stack_counts_once_for_each_group_that_it_is_in() {
        let folded: Folded = "main;parse;malloc 3\nmain;parse;parse 1\nmain 4\n".parse().unwrap();
        let shares = folded.shares(|name| match name {
            "parse" => vec!["json"],
            "malloc" => vec!["allocator", "libc"],
            _ => vec![],
        });
        assert_eq!(shares, [("allocator", 0.375), ("json", 0.5), ("libc", 0.375)].into());
    }

    #[test]
    fn scaling_keeps_the_shares() {
        let folded: Folded = "a 1\nb 3\n".parse().unwrap();
        assert_eq!(folded.scaled_to(4_000_000).to_string(), "a 1000000\nb 3000000\n");
        // No part is lost by rounding.
        assert_eq!(folded.scaled_to(7).to_string(), "a 1\nb 6\n");
        assert_eq!(Folded::default().scaled_to(7), Folded::default());
    }
}
