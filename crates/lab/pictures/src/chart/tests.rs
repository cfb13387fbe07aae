use lab_cases::{Sweep, criterion::Bench};
use lab_protocol::Metric;
use lab_report::Record;

use super::*;

/// A record that was published once, with the first few runs of each case.
pub fn recorded() -> Record {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/fixtures/record.json");
    lab_report::read(std::path::Path::new(path)).unwrap()
}

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
fn no_name_or_value_breaks_a_picture() {
    let mut case = recorded().cases.remove(0);
    case.case = "<b>a case with a name that is much longer than any chart is wide</b>".into();
    case.variants[0].variant = case.case.to_string();
    for chart in [drawn(CROSSING), drawn(FROM_ZERO), drawn(&[]), deciding(&case)] {
        let faults = ["NaN", "inf", "<b>", "<lookup>"];
        assert!(!faults.iter().any(|it| chart.svg.contains(it)), "{}", chart.svg);
    }
}

#[test]
fn bars_are_as_long_as_the_figures_of_the_tables() {
    for record in &recorded().cases {
        let svg = deciding(record).svg;
        let width = |class: &str| -> f64 {
            let bar = svg.split(&format!("class=\"bar {class}\"")).nth(1).unwrap();
            bar.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let (slow, fixed) = (width("slow"), width("fixed"));
        let shown = |variant: &str| record.variant(variant).unwrap().throughput_rps;
        let expected = shown("fixed") / shown("slow");
        // A tiny bar is drawn two units long.
        assert!(slow == 2.0 || (fixed / slow / expected - 1.0).abs() < 0.02, "{}", record.case);
    }
}

#[test]
fn a_case_that_a_latency_decides_shows_the_latencies_of_its_runs() {
    let mut case = recorded().cases.remove(1);
    case.metric = Metric::all().find(|it| <&str>::from(*it) == "latency-p50").unwrap();
    case.open_runs = case.runs.clone();
    let chart = deciding(&case);
    assert!(chart.alt.starts_with("P50 latency of hot-clone") && chart.alt.contains(" ms ("));
    // Its throughput says nothing.
    case.open_runs.iter_mut().for_each(|run| run.outcome.ok_in_time *= 2);
    assert_eq!(deciding(&case).svg, chart.svg);
}

#[test]
fn a_sweep_has_all_points() {
    let chart = drawn(CROSSING);
    assert_eq!(chart.svg.matches(r#"class="dot fixed""#).count(), CROSSING.len());
}
