//! What a reader's predictions have in common, once the faults are known.

use std::collections::BTreeMap;

use lab_cases::Case;
use lab_report::{translate, translated};

use crate::Entry;

/// A factor that is off by less than this was a good prediction.
const CLOSE: f64 = 2.0;

/// Up to three sentences: how many suspects were right, how far the factors were off, and which suspect was wrong most
/// often. Only of what the reader has passed, because it names what the fault was. Empty without a prediction.
pub fn guesses(entries: &[(Entry, Case)]) -> Vec<String> {
    let mut said = Vec::new();
    let passed = || entries.iter().filter(|(entry, _)| entry.passed.is_some());
    let suspected: Vec<_> =
        passed().filter_map(|(entry, case)| Some((case, entry.suspect.as_deref()?))).collect();
    let (right, wrong): (Vec<_>, Vec<_>) =
        suspected.iter().partition(|(case, suspect)| case.is_fault(suspect));
    if !suspected.is_empty() {
        let right = were(right.len());
        said.push(match suspected.len() {
            1 => translate!("Of 1 suspect, {right} right.", right),
            count => translate!("Of {count} suspects, {right} right.", count, right),
        });
    }
    let ratios: Vec<_> =
        entries.iter().filter_map(|(entry, _)| Some(entry.factor? / entry.measured?)).collect();
    if !ratios.is_empty() {
        let [high, low] = [
            ratios.iter().filter(|ratio| **ratio > CLOSE).count(),
            ratios.iter().filter(|ratio| **ratio < 1.0 / CLOSE).count(),
        ];
        let near = were(ratios.len() - high - low);
        said.push(match ratios.len() {
            1 => translate!(
                "Of 1 predicted factor, {near} within a factor of {close} of what was measured, {high} too high and {low} too low.",
                near, close = CLOSE, high, low
            ),
            count => translate!(
                "Of {count} predicted factors, {near} within a factor of {close} of what was measured, {high} too high and {low} too low.",
                count, near, close = CLOSE, high, low
            ),
        });
    }
    let mut by_kind = BTreeMap::<&str, Vec<&str>>::new();
    for (case, suspect) in wrong {
        let fault = case.check.iter().find_map(|check| check.suspects.first());
        by_kind
            .entry(suspect)
            .or_default()
            .push(fault.map_or(translated("something else"), String::as_str));
    }
    if let Some((suspect, faults)) = by_kind.iter().max_by_key(|(_, faults)| faults.len()) {
        let mut faults = faults.clone();
        faults.sort_unstable();
        faults.dedup();
        let faults: Vec<_> = faults.iter().map(|it| format!("`{it}`")).collect();
        said.push(translate!(
            "Wrong most often: you suspected `{suspect}`, and it was {faults}.",
            suspect,
            faults = faults.join(&translate!(" or "))
        ));
    }
    said
}

fn were(count: usize) -> String {
    match count {
        0 => translate!("none was"),
        1 => translate!("1 was"),
        _ => translate!("{count} were", count),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use jiff::Timestamp;

    #[test]
    fn a_reader_learns_how_good_the_guesses_were_and_nothing_of_open_cases() {
        let entry = |name: &str, suspect: &str, said: f64, passed| {
            let file =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name).join("case.toml");
            let case = Case::read(&file).unwrap();
            let passed = passed_at(passed);
            let (suspect, factor) = (Some(suspect.to_owned()), Some(said));
            (Entry { suspect, factor, measured: Some(8.0), passed, ..Entry::default() }, case)
        };
        let entries = [
            entry("hot-clone", "allocation", 9.0, true),
            entry("lock-scope", "allocation", 40.0, true),
            entry("double-parse", "lock", 3.0, false),
        ];
        assert_eq!(
            guesses(&entries),
            [
                "Of 2 suspects, 1 was right.",
                "Of 3 predicted factors, 1 was within a factor of 2 of what was measured, 1 too high and 1 too low.",
                "Wrong most often: you suspected `allocation`, and it was `lock`.",
            ]
        );
        assert!(guesses(&[]).is_empty());
    }

    fn passed_at(passed: bool) -> Option<Timestamp> {
        passed.then_some(Timestamp::UNIX_EPOCH)
    }
}
