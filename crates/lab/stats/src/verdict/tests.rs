//! The rules of the verdict: each alone, then properties of all together.

use super::*;

/// The smallest difference that matters here.
const MINIMUM: f64 = 0.03;

fn interval(low: f64, estimate: f64, high: f64) -> Speedup {
    // Of normal noise, the 90 % interval is 0.84 times as wide as the 95 % interval.
    let inner = |end: f64| estimate * (end / estimate).powf(0.84);
    let inner = Some([inner(low), inner(high)]);
    Speedup { estimate, low, high, confidence: 0.951, inner, count_error: 1.0 }
}

fn verdict(speedup: Speedup, control: Option<Speedup>) -> Verdict {
    judge(Some(&speedup), control.as_ref(), MINIMUM).verdict
}

#[test]
fn each_rule_decides_and_gives_its_reason() {
    let calm = Some(interval(0.96, 1.001, 1.05));
    let loud = Some(interval(0.93, 0.97, 1.02));
    let audible = Some(interval(0.94, 0.98, 1.03));
    let quick = Speedup { confidence: 0.9375, ..interval(268.0, 270.0, 272.0) };
    let rules = [
        (interval(1.02, 1.05, 1.08), calm, Verdict::Faster, "beyond-noise"),
        (interval(0.92, 0.95, 0.98), calm, Verdict::Slower, "beyond-noise"),
        (interval(1.02, 1.05, 1.08), None, Verdict::Faster, "no-control"),
        (interval(1.02, 1.05, 1.08), loud, Verdict::Undecided, "within-noise"),
        (interval(1.005, 1.015, 1.025), calm, Verdict::SlightlyFaster, "below-minimum"),
        (interval(0.975, 0.985, 0.995), calm, Verdict::SlightlySlower, "below-minimum"),
        // The control shows such a difference without a cause.
        (interval(0.975, 0.985, 0.995), audible, Verdict::Equivalent, "no-difference"),
        (interval(0.98, 1.0, 1.02), audible, Verdict::Equivalent, "no-difference"),
        // And here one that matters.
        (interval(0.975, 0.985, 0.995), loud, Verdict::Undecided, "noisy-control"),
        (interval(0.98, 1.0, 1.02), loud, Verdict::Undecided, "noisy-control"),
        (interval(1.01, 1.025, 1.04), calm, Verdict::Undecided, "near-minimum"),
        (interval(0.9, 1.0, 1.1), calm, Verdict::Undecided, "wide-interval"),
        (interval(0.99, 1.06, 1.14), calm, Verdict::Undecided, "wide-interval"),
        (interval(0.9434, 0.972, 1.0007), calm, Verdict::Undecided, "wide-interval"),
        (quick, calm, Verdict::Undecided, "few-pairs"),
    ];
    for (speedup, control, verdict, code) in rules {
        let found = judge(Some(&speedup), control.as_ref(), MINIMUM);
        let reason = serde_json::to_value(found.reason).unwrap();
        assert_eq!((found.verdict, reason["code"].as_str()), (verdict, Some(code)), "{found:?}");
        assert_eq!(serde_json::from_value::<VerdictRule>(reason).unwrap(), found.reason);
    }
    let of_none = judge(None, calm.as_ref(), MINIMUM);
    assert_eq!((of_none.verdict, of_none.reason), (Verdict::Undecided, VerdictRule::NoRatio));
    let VerdictRule::WithinNoise { control, .. } =
        judge(Some(&interval(1.02, 1.05, 1.08)), loud.as_ref(), MINIMUM).reason
    else {
        panic!("it is within the noise")
    };
    assert_eq!(control, 1.0 / 0.97, "as far from 1 as a factor above it");
}

/// Every interval from a grid of places and widths, with every control from another.
fn grid() -> impl Iterator<Item = (Speedup, Option<Speedup>)> {
    let around = |centre: f64, width: f64| {
        interval((centre - width).exp(), centre.exp(), (centre + width).exp())
    };
    let controls = [Some(0.0), Some(-0.005), Some(0.02), Some(0.1), None];
    let controls = controls.map(|it| it.map(|centre| around(centre, 0.05)));
    (-20_i32..=20).flat_map(move |place| {
        // Not a round figure, where rounding would decide.
        let centre = f64::from(place) / 100.0 + 0.0001 * f64::from(place.signum());
        let speedups = [0.001, 0.02, 0.05, 0.1].map(|width| around(centre, width));
        speedups.into_iter().flat_map(move |it| controls.map(|control| (it, control)))
    })
}

impl Speedup {
    fn inverted(self) -> Self {
        interval(1.0 / self.high, 1.0 / self.estimate, 1.0 / self.low)
    }
}

#[test]
fn swapping_the_sides_swaps_faster_and_slower() {
    for (speedup, control) in grid() {
        let expected = match verdict(speedup, control) {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            Verdict::SlightlyFaster => Verdict::SlightlySlower,
            Verdict::SlightlySlower => Verdict::SlightlyFaster,
            same => same,
        };
        assert_eq!(verdict(speedup.inverted(), control), expected, "{speedup:?} {control:?}");
        let control = control.map(Speedup::inverted);
        assert_eq!(verdict(speedup.inverted(), control), expected, "{speedup:?} {control:?}");
    }
}

#[test]
fn more_noise_never_strengthens_the_verdict() {
    for (speedup, control) in grid() {
        let widened = |it: Speedup| interval(it.low / 1.01, it.estimate, it.high * 1.01);
        let louder = control.map(|it| {
            let away = if it.estimate < 1.0 { 0.99 } else { 1.01 };
            interval(it.low * away, it.estimate * away, it.high * away)
        });
        let wider = widened(speedup);
        let before = verdict(speedup, control);
        for after in [verdict(wider, control), verdict(speedup, louder), verdict(wider, louder)] {
            let is_weaker = match before {
                Verdict::SlightlyFaster | Verdict::SlightlySlower => after == Verdict::Equivalent,
                _ => false,
            };
            let is_kept = after == before || after == Verdict::Undecided;
            assert!(is_kept || is_weaker, "{speedup:?} {control:?}");
        }
    }
}

#[test]
fn verdicts_print_and_serialize_as_documented() {
    let all = [Verdict::Faster, Verdict::SlightlySlower, Verdict::Equivalent, Verdict::Undecided];
    let words = ["faster", "slightly slower", "equivalent", "undecided"];
    assert_eq!(all.map(|it| it.to_string()), words);
    assert_eq!(
        all.map(|it| serde_json::to_value(it).unwrap()),
        words.map(|it| it.replace(' ', "_"))
    );
}

#[test]
fn who_compares_the_factor_with_the_noise_finds_the_verdict() {
    for (speedup, control) in grid().filter_map(|(speedup, control)| Some((speedup, control?))) {
        let is_beyond = speedup.distance() > speedup.noise(&control);
        let is_large = speedup.distance() >= 1.0 + MINIMUM;
        let found = verdict(speedup, Some(control));
        let is_called = matches!(found, Verdict::Faster | Verdict::Slower);
        assert_eq!(is_called, is_beyond && is_large, "{speedup:?} {control:?}");
    }
}

#[test]
fn noise_is_no_less_than_what_the_pairs_and_the_answers_can_show() {
    let (factor, control) = (interval(1.02, 1.05, 1.09), interval(0.9, 1.0, 1.1));
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
    assert!(near(factor.noise(&control), 1.05 / 1.02), "a control that is off by nothing");
    assert!(near(factor.noise(&interval(0.9, 0.98, 1.1)), 1.05 / 1.02 / 0.98));
    // 35 answers in each run of the baseline, and many in those of the candidate.
    let few = |of: Speedup, by: f64| Speedup {
        low: of.low / by,
        high: of.high * by,
        count_error: by,
        ..of
    };
    let (factor, control) = (few(interval(279.2, 279.5, 279.6), 1.03), few(control, 1.06));
    assert!(near(factor.noise(&control), 279.5 / 279.2 * 1.06), "{}", factor.noise(&control));
}
