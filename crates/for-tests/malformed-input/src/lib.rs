//! For tests alone: inputs that begin right and go wrong, for everything that parses.
//!
//! A parser refuses random bytes at once. A right input with a few changes gets further, to code that no
//! other test reaches. By default every run of a test makes the same inputs, so that only a change of the
//! code can make it fail. To look for more, choose how many and which:
//!
//! ```sh
//! PROPTEST_CASES=1000000 PROPTEST_RNG_SEED=7 cargo test --release -p lab-load malformed
//! ```

mod edit;

use std::env;

use proptest::{
    collection::vec,
    prelude::{Strategy as _, any},
    test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner},
};

use edit::Edit;

const CASES: u32 = 2000;
const MOST_EDITS: usize = 4;

/// Hands the examples to `check`, then as many malformed ones. If `check` panics, the test fails with the
/// shortest change that makes it panic: add that input to the examples.
pub fn inputs<E: AsRef<[u8]>>(examples: impl IntoIterator<Item = E>, check: impl Fn(&[u8])) {
    let examples: Vec<Vec<u8>> = examples.into_iter().map(|it| it.as_ref().to_vec()).collect();
    examples.iter().for_each(|example| check(example));

    let mut config = Config { failure_persistence: None, ..Config::default() };
    if env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    let edits = vec(any::<[u16; 4]>().prop_map(Edit), 1..=MOST_EDITS);
    let strategy = (0..examples.len(), edits).prop_map(move |(example, edits)| {
        edits.iter().fold(examples[example].clone(), |input, edit| edit.apply(input))
    });
    let seed = config.rng_seed;
    let checked = TestRunner::new(config).run(&strategy, |input| {
        check(&input);
        Ok::<_, TestCaseError>(())
    });
    match checked {
        Ok(()) => {}
        Err(TestError::Fail(reason, input)) => {
            panic!("{reason}\nseed: {seed:?}\ninput: b\"{}\"", input.escape_ascii())
        }
        Err(TestError::Abort(reason)) => panic!("no inputs: {reason}"),
    }
}

/// As [`inputs`], for texts.
pub fn texts<E: AsRef<str>>(examples: impl IntoIterator<Item = E>, check: impl Fn(&str)) {
    let examples = examples.into_iter().map(|it| it.as_ref().as_bytes().to_vec());
    inputs(examples, |input| check(&String::from_utf8_lossy(input)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::RefCell, collections::BTreeSet, panic::catch_unwind};

    fn run() -> Vec<Vec<u8>> {
        let seen = RefCell::new(Vec::new());
        inputs(["GET /orders?limit=10 HTTP/1.1\r\n"], |it| seen.borrow_mut().push(it.to_vec()));
        seen.into_inner()
    }

    #[test]
    fn every_run_makes_the_same_inputs() {
        assert_eq!(run(), run());
    }

    #[test]
    fn most_inputs_differ() {
        let seen = run();
        let different: BTreeSet<_> = seen.iter().collect();
        assert!(different.len() > seen.len() * 3 / 4, "{} of {}", different.len(), seen.len());
        assert!(seen.iter().any(|it| it.windows(20).any(|it| it == b"18446744073709551615")));
    }

    #[test]
    fn a_fault_is_found_and_shown_with_a_short_input() {
        let found = catch_unwind(|| {
            texts(["limit=10&page=3"], |text| assert!(!text.contains("limit=-1"), "negative"));
        });
        let message = *found.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("negative") && message.contains("b\"limit=-1"), "{message}");
    }
}
