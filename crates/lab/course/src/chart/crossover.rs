//! Whether the winner changes over a sweep, as far as the intervals allow a claim.

use lab_case::{BASELINE, CANDIDATE};
use lab_display::{factor, thousands};

use super::{SweepPoint, join};

/// What a sweep shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Where the lines cross, by the estimates on either side.
    pub crossings: Vec<f64>,
    /// The finding with its figures.
    pub sentence: String,
}

impl Finding {
    /// Of points in the order of their parameter.
    pub fn of(points: &[SweepPoint]) -> Self {
        let decided = points.iter().filter_map(|point| Some((point, faster(point)?)));
        let decided: Vec<_> = decided.collect();
        let changes: Vec<_> = decided.windows(2).filter(|pair| pair[0].1 != pair[1].1).collect();
        let crossings: Vec<_> = changes
            .iter()
            .map(|pair| crossing(points, pair[0].0.parameter, pair[1].0.parameter))
            .collect();
        let leads = |name: &str| -> Vec<f64> {
            let its = decided.iter().filter(|(_, faster)| *faster == name);
            its.map(|(point, _)| lead(point)).collect()
        };
        let most = |name: &str| factor(leads(name).into_iter().fold(0.0, f64::max));
        let sentence = match (&decided[..], &changes[..], &crossings[..]) {
            ([], ..) => format!("No difference is shown at any of {} points.", points.len()),
            ([(_, name), ..], [], _) => {
                let least = factor(leads(name).into_iter().fold(f64::INFINITY, f64::min));
                let range = match most(name) {
                    most if most == least => format!("by {most}"),
                    most => format!("by {least} to {most}"),
                };
                format!("No crossover in this range: {name} is faster at {}.", at(points, &range))
            }
            (_, [change], [near]) => {
                let (below, above) = (change[0].1, change[1].1);
                format!(
                    "Crossover near {}: {below} is faster below it (up to {}), {above} above it (up \
                     to {}).",
                    about(*near),
                    most(below),
                    most(above),
                )
            }
            _ => {
                let near: Vec<_> = crossings.iter().map(|near| about(*near)).collect();
                format!("The faster one changes {} times: near {}.", near.len(), join(&near))
            }
        };
        Self { crossings, sentence }
    }
}

/// The points at which one side is faster, by a range of factors.
fn at(points: &[SweepPoint], range: &str) -> String {
    let even = points.iter().filter(|point| faster(point).is_none());
    let even: Vec<_> = even.map(|point| about(point.parameter)).collect();
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

/// Where straight lines between the estimates cross on the chart's axes, between two parameters.
fn crossing(points: &[SweepPoint], from: f64, to: f64) -> f64 {
    let between: Vec<_> =
        points.iter().filter(|point| (from..=to).contains(&point.parameter)).collect();
    let is_log = points.iter().all(|point| point.parameter > 0.0);
    let lead = |point: &SweepPoint| (point.slow.ns / point.fixed.ns).ln();
    let changes = between.windows(2).find(|pair| lead(pair[0]) * lead(pair[1]) <= 0.0);
    let Some([one, other]) = changes else { return f64::midpoint(from, to) };
    let share = lead(one) / (lead(one) - lead(other));
    let [from, to] = [one.parameter, other.parameter];
    match is_log {
        true => from * (to / from).powf(share),
        false => from + (to - from) * share,
    }
}

/// Two digits: the points of a sweep are too far apart for more.
fn about(value: f64) -> String {
    let digit = 10_f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor() - 1.0);
    let rounded = (value / digit).round() * digit;
    match rounded {
        rounded if rounded >= 10.0 || rounded.fract() == 0.0 => thousands(rounded),
        rounded if rounded >= 1.0 => format!("{rounded:.1}"),
        rounded => format!("{rounded:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tests::points;

    #[track_caller]
    fn finds(given: &[(f64, f64, f64)], crossings: &[f64], sentence: &str) {
        let found = Finding::of(&points(given));
        assert_eq!(found.sentence, sentence);
        let near = found.crossings.iter().zip(crossings).all(|(it, at)| (it - at).abs() < 1e-9);
        assert!(near && found.crossings.len() == crossings.len(), "{found:?}");
    }

    #[test]
    fn a_crossover_is_claimed_only_where_the_intervals_allow_it() {
        finds(
            &[(1.0, 10.0, 40.0), (10.0, 20.0, 40.0), (1000.0, 80.0, 40.0)],
            &[100.0],
            "Crossover near 100: slow is faster below it (up to 4.00×), fixed above it (up to 2.00×).",
        );
        // A parameter of 0 makes the axis linear.
        finds(
            &[(0.0, 20.0, 10.0), (8.0, 10.0, 20.0)],
            &[4.0],
            "Crossover near 4: fixed is faster below it (up to 2.00×), slow above it (up to 2.00×).",
        );
        // The estimates cross, but within their intervals.
        finds(
            &[(1.0, 40.0, 10.0), (2.0, 11.0, 10.0), (3.0, 10.0, 10.5)],
            &[],
            "No crossover in this range: fixed is faster at 1 of 3 points, by 4.00×; no difference \
             is shown at 2 and 3.",
        );
        finds(
            &[(1.0, 40.0, 10.0), (2.0, 15.0, 10.0)],
            &[],
            "No crossover in this range: fixed is faster at all 2 points, by 1.50× to 4.00×.",
        );
        let several = [(1.0, 40.0, 10.0), (4.0, 10.0, 40.0), (16.0, 40.0, 10.0)];
        finds(&several, &[2.0, 8.0], "The faster one changes 2 times: near 2 and 8.");
        finds(&[(1.0, 10.0, 10.0)], &[], "No difference is shown at any of 1 points.");
    }

    #[test]
    fn a_crossover_has_two_digits() {
        assert_eq!(
            [0.0432, 3.28, 11.8, 1234.0, 4.0].map(about),
            ["0.04", "3.3", "12", "1,200", "4"]
        );
    }
}
