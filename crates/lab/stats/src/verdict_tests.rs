//! The rules of the verdict: each alone, then properties of all together.

use super::*;

/// The smallest difference that matters here.
const MINIMUM: f64 = 0.03;

fn interval(low: f64, estimate: f64, high: f64) -> Speedup {
    Speedup { estimate, low, high, confidence: 0.951 }
}

fn verdict(speedup: Speedup, control: Option<Speedup>) -> Verdict {
    judge(Some(&speedup), control.as_ref(), MINIMUM).verdict
}

#[test]
fn each_rule_decides_and_gives_its_reason() {
    let calm = Some(interval(0.99, 1.0, 1.012));
    let loud = Some(interval(0.93, 1.0, 1.02));
    let quick = Speedup { confidence: 0.5, ..interval(268.0, 270.0, 272.0) };
    let rules = [
        (interval(1.02, 1.05, 1.08), calm, Verdict::Faster, "+5.0 % is more than the control's"),
        (interval(0.92, 0.95, 0.98), calm, Verdict::Slower, "-5.0 % is more than the control's"),
        (interval(1.02, 1.05, 1.08), None, Verdict::Faster, "no control"),
        (interval(1.02, 1.05, 1.08), loud, Verdict::TooNoisy, "shows up to ±7.5 %"),
        (
            interval(1.01, 1.02, 1.03),
            calm,
            Verdict::NoDifferenceShown,
            "smaller than the minimum of 3.0 %",
        ),
        (interval(0.98, 1.0, 1.02), loud, Verdict::NoDifferenceShown, "contains 1"),
        (
            interval(0.9, 1.0, 1.1),
            calm,
            Verdict::TooNoisy,
            "±10.6 % wide, which can hide a difference",
        ),
        (interval(0.99, 1.06, 1.14), calm, Verdict::TooNoisy, "can hide a difference of 3.0 %"),
        (quick, calm, Verdict::TooNoisy, "50 %; 95 % takes at least 6 pairs"),
    ];
    for (speedup, control, verdict, reason) in rules {
        let found = judge(Some(&speedup), control.as_ref(), MINIMUM);
        assert_eq!(found.verdict, verdict, "{speedup:?}: {found:?}");
        assert!(found.reason.contains(reason), "{found:?}");
    }
    assert_eq!(judge(None, calm.as_ref(), MINIMUM).verdict, Verdict::TooNoisy);
}

#[test]
fn five_pairs_are_too_few_and_six_are_enough() {
    let of = |pairs| Speedup::of_pairs(std::iter::repeat_n(2.0, pairs)).unwrap();
    for pairs in 1..6 {
        assert_eq!(verdict(of(pairs), None), Verdict::TooNoisy);
    }
    assert_eq!(verdict(of(6), None), Verdict::Faster);
}

/// Every interval from a grid of places and widths, with every control from another.
fn grid() -> impl Iterator<Item = (Speedup, Option<Speedup>)> {
    let around = |centre: f64, width: f64| interval(centre - width, centre, centre + width);
    let controls: Vec<_> = [0.0, 0.015, 0.04, 0.2]
        .iter()
        .map(|width| Some(around(0.0, *width)))
        .chain([None])
        .map(|control| control.map(|control| control.map_ends(f64::exp)))
        .collect();
    (-20_i32..=20).flat_map(move |place| {
        let controls = controls.clone();
        [0.001, 0.02, 0.05, 0.1].into_iter().flat_map(move |width| {
            // Not a round figure, where rounding would decide.
            let centre = f64::from(place) / 100.0 + 0.0001 * f64::from(place.signum());
            let speedup = around(centre, width).map_ends(f64::exp);
            controls.clone().into_iter().map(move |control| (speedup, control))
        })
    })
}

impl Speedup {
    fn map_ends(self, f: impl Fn(f64) -> f64) -> Self {
        Self { estimate: f(self.estimate), low: f(self.low), high: f(self.high), ..self }
    }

    fn inverted(self) -> Self {
        let Self { estimate, low, high, confidence } = self;
        Self { estimate: 1.0 / estimate, low: 1.0 / high, high: 1.0 / low, confidence }
    }
}

fn rank(verdict: Verdict) -> i32 {
    match verdict {
        Verdict::Slower => -1,
        Verdict::NoDifferenceShown | Verdict::TooNoisy => 0,
        Verdict::Faster => 1,
    }
}

#[test]
fn swapping_the_sides_swaps_faster_and_slower() {
    for (speedup, control) in grid() {
        let expected = match verdict(speedup, control) {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            same => same,
        };
        assert_eq!(verdict(speedup.inverted(), control), expected, "{speedup:?} {control:?}");
        let control = control.map(Speedup::inverted);
        assert_eq!(verdict(speedup.inverted(), control), expected, "{speedup:?} {control:?}");
    }
}

#[test]
fn a_larger_effect_never_weakens_the_verdict() {
    for (speedup, control) in grid() {
        let larger = speedup.map_ends(|end| end * 1.013);
        assert!(rank(verdict(larger, control)) >= rank(verdict(speedup, control)), "{speedup:?}");
    }
}

#[test]
fn more_noise_never_strengthens_the_verdict() {
    for (speedup, control) in grid() {
        let wider = Speedup { low: speedup.low / 1.01, high: speedup.high * 1.01, ..speedup };
        let louder = control.map(|c| Speedup { low: c.low / 1.01, high: c.high * 1.01, ..c });
        let before = rank(verdict(speedup, control)).abs();
        for after in [verdict(wider, control), verdict(speedup, louder), verdict(wider, louder)] {
            assert!(rank(after).abs() <= before, "{speedup:?} {control:?}");
        }
    }
}

#[test]
fn verdicts_print_and_serialize_as_documented() {
    let words = [
        (Verdict::Faster, "faster", "faster"),
        (Verdict::Slower, "slower", "slower"),
        (Verdict::NoDifferenceShown, "no difference shown", "no_difference_shown"),
        (Verdict::TooNoisy, "too noisy: rerun with more pairs", "too_noisy"),
    ];
    for (verdict, printed, kept) in words {
        assert_eq!(verdict.to_string(), printed);
        assert_eq!(serde_json::to_value(verdict).unwrap(), kept);
    }
}
