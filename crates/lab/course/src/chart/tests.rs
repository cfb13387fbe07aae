use lab_model::{Sweep, criterion::Bench};

use super::*;

/// Made up: a parameter, and microseconds of both sides.
const CROSSING: &[(f64, f64, f64)] = &[(1.0, 0.4, 1.9), (16.0, 2.1, 2.3), (64.0, 8.0, 3.1)];
const FROM_ZERO: &[(f64, f64, f64)] = &[(0.0, 51.0, 50.0), (1.0, 66.0, 51.0), (10.0, 200.0, 56.0)];

/// Points of a sweep, with intervals of a tenth to either side.
pub fn points(points: &[(f64, f64, f64)]) -> Vec<SweepPoint> {
    let bench = |us: f64| Bench {
        group: String::new(),
        name: String::new(),
        parameter: None,
        ns: us * 1e3,
        low_ns: us * 900.0,
        high_ns: us * 1100.0,
    };
    let point = |&(parameter, slow, fixed): &(f64, f64, f64)| SweepPoint {
        parameter,
        slow: bench(slow),
        fixed: bench(fixed),
    };
    points.iter().map(point).collect()
}

fn drawn(of: &[(f64, f64, f64)]) -> Chart {
    let labels = Sweep {
        title: "A <lookup> in a map".to_owned(),
        parameter: "writes in a hundred requests".to_owned(),
        time: "time per request".to_owned(),
    };
    sweep(&points(of), &labels)
}

#[test]
fn names_are_escaped_and_everything_has_a_place() {
    for chart in [drawn(CROSSING), drawn(FROM_ZERO), drawn(&[])] {
        let faults = ["NaN", "inf", "<lookup>"];
        assert!(!faults.iter().any(|it| chart.svg.contains(it)), "{}", chart.svg);
    }
}

#[test]
fn a_sweep_names_its_crossover() {
    let chart = drawn(CROSSING);
    let found = "Crossover between 1 and 64:";
    assert!(chart.svg.contains(&format!(">{found}")) && chart.alt.contains(found), "{}", chart.alt);
    assert_eq!(chart.svg.matches(r#"class="dot fixed""#).count(), CROSSING.len());
}
