//! Sums up a reader's predictions, once the faults are known.

use std::collections::BTreeMap;

use lab_cases::Case;
use lab_report::{factor, translate, translated};
use lab_stats::median_of;

use crate::Entry;

/// A factor that is off by more than this was a bad prediction.
const FAR: f64 = 2.0;

/// Up to three sentences: how many suspects were right, how far the factors were off, and which suspect was wrong most
/// often. Only of what the reader has passed, because it names what the fault was. Empty without a prediction.
pub fn guesses(entries: &[(Entry, Case)]) -> Vec<String> {
    let passed = entries.iter().filter(|(entry, _)| entry.passed.is_some());
    let suspected: Vec<_> =
        passed.filter_map(|(entry, case)| Some((case, entry.suspect.as_deref()?))).collect();
    let (right, wrong): (Vec<_>, Vec<_>) =
        suspected.iter().copied().partition(|(case, suspect)| case.is_fault(suspect));
    let ratios: Vec<_> =
        entries.iter().filter_map(|(entry, _)| Some(entry.factor? / entry.measured?)).collect();
    let sentences =
        [of_suspects(suspected.len(), right.len()), of_factors(&ratios), most_often_wrong(&wrong)];
    sentences.into_iter().flatten().collect()
}

fn of_suspects(count: usize, right: usize) -> Option<String> {
    let right = were(right);
    match count {
        0 => None,
        1 => Some(translate!("Of 1 suspect, {right} right.", right)),
        count => Some(translate!("Of {count} suspects, {right} right.", count, right)),
    }
}

/// The ratios are predicted over measured.
fn of_factors(ratios: &[f64]) -> Option<String> {
    // A factor that is half of the truth is as far off as one that is twice the truth.
    let off = factor(median_of(ratios.iter().map(|ratio| ratio.max(1.0 / ratio)))?);
    let high = ratios.iter().filter(|ratio| **ratio > FAR).count();
    let low = ratios.iter().filter(|ratio| **ratio < 1.0 / FAR).count();
    let far = factor(FAR);
    Some(match ratios.len() {
        1 => translate!("The predicted factor was within {off} of what was measured.", off),
        count => translate!(
            "Of {count} predicted factors, half were within {off} of what was measured; more than {far} off: {high} too high, {low} too low.",
            count,
            off,
            far,
            high,
            low
        ),
    })
}

/// The suspect that was wrong most often, and the faults that it was taken for.
fn most_often_wrong(wrong: &[(&Case, &str)]) -> Option<String> {
    let mut by_suspect = BTreeMap::<&str, Vec<&str>>::new();
    for (case, suspect) in wrong {
        let fault = case.check.iter().find_map(|check| check.suspects.first());
        let fault = fault.map_or(translated("something else"), String::as_str);
        by_suspect.entry(suspect).or_default().push(fault);
    }
    let (suspect, mut faults) = by_suspect.into_iter().max_by_key(|(_, faults)| faults.len())?;
    faults.sort_unstable();
    faults.dedup();
    let faults: Vec<_> = faults.iter().map(|fault| format!("`{fault}`")).collect();
    Some(translate!(
        "Wrong most often: you suspected `{suspect}`, and it was {faults}.",
        suspect,
        faults = faults.join(&translate!(" or "))
    ))
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
                "Of 3 predicted factors, half were within 2.67× of what was measured; more than 2.00× off: 1 too high, 1 too low.",
                "Wrong most often: you suspected `allocation`, and it was `lock`.",
            ]
        );
        assert_eq!(
            guesses(&entries[..1]),
            [
                "Of 1 suspect, 1 was right.",
                "The predicted factor was within 1.12× of what was measured."
            ]
        );
        assert!(guesses(&entries[..0]).is_empty());
    }

    fn passed_at(passed: bool) -> Option<Timestamp> {
        passed.then_some(Timestamp::UNIX_EPOCH)
    }
}
