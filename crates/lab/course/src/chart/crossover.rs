//! Whether the winner changes over a sweep, as far as the intervals allow a claim.

use lab_display::{factor, join, picture::round};
use lab_model::{BASELINE, CANDIDATE};

use super::SweepPoint;

/// What a sweep shows, with its figures, in a sentence. Points are in the order of their parameter.
pub fn finding(points: &[SweepPoint]) -> String {
    let decided = points.iter().filter_map(|point| Some((point, faster(point)?)));
    let decided: Vec<_> = decided.collect();
    let changes = decided.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let between = |pair: &[(&SweepPoint, _)]| {
        let [from, to] = [pair[0].0, pair[1].0].map(|point| round(point.parameter));
        format!("between {from} and {to}")
    };
    let between: Vec<_> = changes.map(between).collect();
    let leads = |name: &str| -> Vec<f64> {
        let its = decided.iter().filter(|(_, faster)| *faster == name);
        its.map(|(point, _)| lead(point)).collect()
    };
    let most = |name: &str| factor(leads(name).into_iter().fold(0.0, f64::max));
    match (&decided[..], &between[..]) {
        ([], _) => format!("No difference is shown at any of {} points.", points.len()),
        ([(_, name), ..], []) => {
            let least = factor(leads(name).into_iter().fold(f64::INFINITY, f64::min));
            let range = match most(name) {
                most if most == least => format!("by {most}"),
                most => format!("by {least} to {most}"),
            };
            format!("No crossover in this range: {name} is faster at {}.", at(points, &range))
        }
        ([(_, below), .., (_, above)], [between]) => format!(
            "Crossover {between}: {below} is faster below it (up to {}), {above} above it (up to {}).",
            most(below),
            most(above),
        ),
        (_, between) => {
            format!("The faster one changes {} times: {}.", between.len(), between.join(", "))
        }
    }
}

/// The points at which one side is faster, by a range of factors.
fn at(points: &[SweepPoint], range: &str) -> String {
    let even = points.iter().filter(|point| faster(point).is_none());
    let even: Vec<_> = even.map(|point| round(point.parameter)).collect();
    let all = points.len();
    match all - even.len() {
        faster if faster == all => format!("all {all} points, {range}"),
        faster => {
            format!("{faster} of {all} points, {range}; no difference is shown at {}", join(&even))
        }
    }
}

/// The side whose whole interval is below the other's, if they do not overlap.
fn faster(SweepPoint { slow, fixed, .. }: &SweepPoint) -> Option<&'static str> {
    match () {
        () if fixed.high_ns < slow.low_ns => Some(CANDIDATE),
        () if slow.high_ns < fixed.low_ns => Some(BASELINE),
        () => None,
    }
}

/// How many times as long the slower side takes.
fn lead(point: &SweepPoint) -> f64 {
    let ratio = point.slow.ns / point.fixed.ns;
    ratio.max(1.0 / ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tests::points;

    #[test]
    fn a_crossover_is_claimed_only_where_the_intervals_allow_it() {
        for (given, sentence) in [
            (
                &[(1.0, 10.0, 40.0), (10.0, 20.0, 40.0), (1000.0, 80.0, 40.0)][..],
                "Crossover between 10 and 1,000: slow is faster below it (up to 4.00×), fixed above \
                 it (up to 2.00×).",
            ),
            // The estimates cross, but within their intervals.
            (
                &[(1.0, 40.0, 10.0), (2.5, 11.0, 10.0), (3.0, 10.0, 10.5)],
                "No crossover in this range: fixed is faster at 1 of 3 points, by 4.00×; no \
                 difference is shown at 2.50 and 3.",
            ),
            (
                &[(1.0, 40.0, 10.0), (2.0, 15.0, 10.0)],
                "No crossover in this range: fixed is faster at all 2 points, by 1.50× to 4.00×.",
            ),
            (
                &[(1.0, 40.0, 10.0), (4.0, 10.0, 40.0), (16.0, 40.0, 10.0)],
                "The faster one changes 2 times: between 1 and 4, between 4 and 16.",
            ),
            (&[(1.0, 10.0, 10.0)], "No difference is shown at any of 1 points."),
        ] {
            assert_eq!(finding(&points(given)), sentence);
        }
    }
}
