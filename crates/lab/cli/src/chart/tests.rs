use super::*;
use crate::{
    bench::Record,
    picture::probe::{assert_nothing_overflows_a_figure, elements},
    stats::Verdict,
    store,
};

/// A record that was published once, with the first few runs of each case.
pub fn recorded() -> Record {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/record.json");
    store::read(std::path::Path::new(path)).unwrap()
}

/// Writes the charts to the directory that LAB_EXAMPLES names, to be looked at.
#[test]
#[ignore = "for the eyes: LAB_EXAMPLES=DIR cargo test -p lab --lib -- --ignored example_charts"]
fn example_charts() {
    let dir = std::env::var("LAB_EXAMPLES").expect("LAB_EXAMPLES names a directory");
    let write = |name: &str, chart: Chart| {
        let path = std::path::Path::new(&dir).join(format!("{name}.svg"));
        crate::files::write_whole(&path, &chart.svg).unwrap();
        println!("{name}: {}", chart.alt);
    };
    let record = recorded();
    write("speedups", speedups(&record));
    for it in &record.cases {
        write(&format!("case-{}", it.case), case(it));
        write(&format!("latency-{}", it.case), latency(it));
    }
    for (name, points) in [("crossing", CROSSING), ("from-zero", FROM_ZERO)] {
        write(&format!("sweep-{name}"), drawn(points));
    }
}

/// Made up: a parameter, and microseconds of both sides.
const CROSSING: &[(f64, f64, f64)] = &[
    (1.0, 0.4, 1.9),
    (4.0, 0.9, 2.0),
    (16.0, 2.1, 2.3),
    (64.0, 8.0, 3.1),
    (256.0, 33.0, 5.9),
    (1024.0, 130.0, 16.0),
];
const FROM_ZERO: &[(f64, f64, f64)] =
    &[(0.0, 51.0, 50.0), (1.0, 66.0, 51.0), (5.0, 120.0, 53.0), (10.0, 200.0, 56.0)];

fn drawn(points: &[(f64, f64, f64)]) -> Chart {
    let time = |us: f64| Time { ns: us * 1e3, low: us * 920.0, high: us * 1090.0 };
    let points: Vec<_> = points
        .iter()
        .map(|&(parameter, slow, fixed)| SweepPoint {
            parameter,
            slow: time(slow),
            fixed: time(fixed),
        })
        .collect();
    let labels = SweepLabels {
        title: "A <lookup> in a map",
        parameter: "writes in a hundred requests",
        time: "time per request",
        slow: "slow",
        fixed: "fixed",
    };
    sweep(&points, &labels)
}

#[test]
fn every_chart_stands_alone_and_nothing_overflows_it() {
    for chart in all() {
        assert_nothing_overflows_a_figure(&chart.svg);
        let names: Vec<_> = elements(&chart.svg).into_iter().take(4).map(|it| it.name).collect();
        assert_eq!(names, ["svg", "title", "desc", "style"]);
        assert!(chart.svg.contains("prefers-color-scheme: dark"));
        assert!(!chart.svg.contains("NaN") && !chart.svg.contains("inf"), "{}", chart.svg);
    }
}

#[test]
fn the_same_record_makes_the_same_charts() {
    assert_eq!(all(), all());
}

#[test]
fn factors_have_an_interval_and_the_noise_beside_them() {
    let record = recorded();
    let svg = speedups(&record).svg;
    let claims = record.cases.len() * 2;
    let count = |class: &str| elements(&svg).iter().filter(|it| it.class() == class).count();
    assert_eq!((count("band"), count("reach "), count("dot ")), (claims, claims, claims));
    for case in &record.cases {
        for found in [case.speedup.throughput, case.speedup.cpu_per_request] {
            assert!(svg.contains(&crate::display::speedup(&found.unwrap())));
        }
    }
}

#[test]
fn a_verdict_other_than_faster_is_told_with_the_factor() {
    let mut record = recorded();
    record.cases[0].verdict = Verdict::TooNoisy;
    let chart = speedups(&record);
    assert_eq!(chart.svg.matches(">too noisy for a verdict<").count(), 1);
    assert!(chart.alt.contains("(too noisy for a verdict)"), "{}", chart.alt);
}

#[test]
fn bars_are_as_long_as_the_throughput() {
    for record in &recorded().cases {
        let svg = case(record).svg;
        let bars = elements(&svg).into_iter().filter(|it| it.class().starts_with("bar "));
        let widths: Vec<_> = bars.map(|bar| bar.number("width")).collect();
        let [slow, fixed] = widths[..] else { panic!("{widths:?}") };
        let expected = record.variants[1].throughput_rps / record.variants[0].throughput_rps;
        // What is hardly anything is drawn two units long, so that it is seen.
        assert!(slow == 2.0 || (fixed / slow / expected - 1.0).abs() < 0.02, "{}", record.case);
    }
}

#[test]
fn lower_bounds_are_dotted_and_have_arrows_and_others_have_none() {
    for record in &recorded().cases {
        let chart = latency(record);
        let is_bound = record.variants.iter().any(|variant| variant.latency_ms.lower_bounds);
        assert_eq!(chart.svg.contains("line slow dotted"), is_bound, "{}", record.case);
        assert_eq!(chart.svg.contains("at-least"), is_bound, "{}", record.case);
        assert_eq!(chart.alt.contains("at least"), is_bound, "{}", chart.alt);
    }
}

#[test]
fn latencies_that_must_not_be_quoted_are_not_drawn() {
    let mut record = recorded().cases.remove(0);
    let dashed =
        |record: &CaseRecord| latency(record).svg.matches(r#""line fixed dashed""#).count();
    record.variants[1].open_loop.as_mut().unwrap().invalid = None;
    assert_eq!(dashed(&record), 1);
    record.variants[1].open_loop.as_mut().unwrap().invalid = Some("late".to_owned());
    assert_eq!(dashed(&record), 0);
    let chart = latency(&record);
    assert!(chart.svg.contains("No open loop of fixed: the generator was late"));
    assert_eq!(chart.alt.matches("fixed p50").count(), 1, "{}", chart.alt);
}

#[test]
fn a_percentile_is_drawn_only_if_a_request_lies_above_it() {
    let mut record = recorded().cases.remove(0);
    assert!(latency(&record).svg.contains(">p99.9<"));
    record.runs.truncate(2);
    record.open_runs.clear();
    assert!(!latency(&record).svg.contains(">p99.9<"));
}

#[test]
fn a_sweep_marks_its_crossover_or_says_that_there_is_none() {
    let chart = drawn(CROSSING);
    assert_eq!(chart.svg.matches(r#"class="mark""#).count(), 1);
    assert!(chart.svg.contains(">Crossover near 18:") && chart.alt.contains("near 18"));
    assert_eq!(chart.svg.matches(r#"class="dot fixed""#).count(), CROSSING.len());
    let none = drawn(FROM_ZERO);
    assert!(!none.svg.contains(r#"class="mark""#));
    assert!(none.svg.contains(">No crossover in this range:"), "{}", none.svg);
}

#[test]
fn names_are_escaped_and_long_ones_cut() {
    let mut record = recorded();
    let name = "<b>a case with a name that is much longer than any chart is wide</b>";
    record.cases[0].case = name.to_owned();
    record.cases[0].variants[0].variant = name.to_owned();
    for run in &mut record.cases[0].runs {
        run.variant = run.variant.replace("slow", name);
    }
    for chart in [speedups(&record), case(&record.cases[0]), latency(&record.cases[0])] {
        assert!(!chart.svg.contains("<b>") && chart.svg.contains("&lt;b&gt;"));
        assert_nothing_overflows_a_figure(&chart.svg);
    }
}

fn all() -> Vec<Chart> {
    let record = recorded();
    let mut all = vec![speedups(&record), drawn(CROSSING), drawn(FROM_ZERO), drawn(&[])];
    all.extend(record.cases.iter().flat_map(|it| [case(it), latency(it)]));
    all
}
