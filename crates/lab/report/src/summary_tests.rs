//! What a comparison looks like in the terminal and as a comment, word by word.

use crate::{Neighbours, Record};
use lab_model::{ByPercentile, Invalid, Kind, Limit, Metric, Note, Reason, Spacing};
use lab_stats::Speedup;

use super::*;
use crate::{comment, screen, screen_of_candidates};

fn recorded() -> Record {
    serde_json::from_str(include_str!("../tests/fixtures/record.json")).unwrap()
}

/// A comparison in which nearly everything went wrong that is worth a note.
fn troubled() -> Record {
    let mut record = recorded();
    let mut case = record.cases.swap_remove(0);
    record.cases.clear();
    let runs = case.runs.len();
    for (at, run) in case.runs.iter_mut().enumerate() {
        let gains = if run.variant == "slow" { [9, 8, 8, 8, 8] } else { [6, 9, 9, 9, 9] };
        run.outcome.fifths = gains.map(|it| it * 10).to_vec();
        let programs = Some(if at == 0 { 0.31 } else { 0.01 });
        let stolen = if at < 2 { 0.12 } else { 0.0 };
        run.neighbours =
            Some(Neighbours { programs, stolen, throttled: 0.06, server_throttled: 0.0 });
    }
    assert!(runs > 2);
    let [slow, fixed] = &mut case.variants[..] else { panic!("there are two") };
    slow.requests.unfinished = 40;
    slow.requests.lost = 3;
    slow.reopened = 4;
    slow.generator_waited = Some(0.23);
    slow.throughput_rps = 12.0;
    slow.cpu_us_per_request = Some(1500.0);
    fixed.requests.wrong = 2;
    fixed.requests.failed = 1;
    fixed.requests.resent = 400;
    fixed.requests.first_fault = Some("status 500 instead of 200: <b>oops</b> @all".to_owned());
    fixed.generator_limited = Some(Limit::GeneratorSaturated { busy: 0.7, waited: 0.25 });
    fixed.limited_runs = 2;
    let open = fixed.open_loop.as_mut().unwrap();
    open.spacing = Spacing::Random { seed: 7 };
    open.invalid = Some(Invalid::GeneratorLate { p99_ms: 6.7, lag_ms: 2.5 });
    open.requests.lost = 1;
    case.notes = vec![
        Note::of("slow", Kind::AnswersVary { request: "GET /".to_owned(), from: 40, to: 168 }),
        Note::Sentence("an older sentence".to_owned()),
    ];
    case.promised = Some(99.0);
    record.cases.push(case);
    record
}

/// One whose verdict is about a latency, and which chance decides.
fn about_latency() -> Record {
    let mut record = recorded();
    record.cases.truncate(1);
    let case = &mut record.cases[0];
    case.metric = Metric::all().find(|it| it.name() == "p99 latency").unwrap();
    case.open_runs.clear();
    let speedup = Speedup {
        estimate: 1.1,
        low: 0.9,
        high: 1.3,
        confidence: 0.952,
        inner: None,
        count_error: 1.0,
    };
    case.speedup.throughput = Some(speedup);
    (case.verdict, case.reason) = case.judged_by(Metric::Throughput);
    record
}

#[test]
fn a_comparison_looks_like_this() {
    console::set_colors_enabled(false);
    for (name, record) in
        [("calm", recorded()), ("troubled", troubled()), ("latency", about_latency())]
    {
        let case = &record.cases[0];
        insta::assert_snapshot!(format!("{name}_terminal"), comparison("What is slow?", case));
        insta::assert_snapshot!(format!("{name}_screen"), screen("double-parse", case, "-v"));
        let alone = Record { cases: vec![case.clone()], ..record.clone() };
        insta::assert_snapshot!(format!("{name}_comment"), comment(&alone));
    }
}

#[test]
fn several_candidates_are_a_row_each() {
    console::set_colors_enabled(false);
    let mut record = recorded();
    record.cases.truncate(3);
    record.command =
        ["lab", "compare", "./old", "./new", "./other", "./odd"].map(str::to_owned).into();
    for (case, name) in record.cases.iter_mut().zip(["new", "other", "odd"]) {
        case.case = name.to_owned();
        case.variants[0].variant = "baseline".to_owned();
        case.variants[1].variant = name.to_owned();
        case.candidate = Some(name.to_owned());
    }
    record.cases[1].verdict = Verdict::Slower;
    (record.cases[2].verdict, record.cases[2].reason) = (Verdict::Undecided, Reason::LagDecides);
    insta::assert_snapshot!("candidates_screen", screen_of_candidates(&record.cases, "-v"));
    insta::assert_snapshot!("candidates_comment", comment(&record));
}

/// A factor whose interval is 3 % wide on both sides.
fn about(estimate: f64) -> Option<Speedup> {
    Speedup::of_pairs([0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03].map(|noise| noise * estimate))
}

#[test]
fn a_generator_that_limits_the_faster_side_makes_the_factor_a_bound() {
    console::set_colors_enabled(false);
    let bound = |factor: f64, limited: &[usize]| {
        let mut case = recorded().cases.remove(0);
        case.minimum_effect = 0.1;
        case.speedup.throughput = about(factor);
        case.variants[1].speedup = Some(case.speedup);
        let runs = case.runs.len();
        limited.iter().for_each(|at| case.variants[*at].limited_runs = runs);
        case.bound_by_generator();
        assert_eq!(
            case.variants[1].speedup.unwrap().throughput_at_least,
            case.speedup.throughput_at_least
        );
        let (verdict, reason) = case.judged_by(Metric::Throughput);
        (case.verdict, case.reason) = (verdict, reason);
        (case.speedup.throughput_at_least, screen::verdict(&case).concat())
    };
    // Both orders of the same two servers.
    let (is_bound, faster) = bound(8.0, &[1]);
    assert!(is_bound && faster.contains("faster: at least 8.00× the throughput (7."), "{faster}");
    let (is_bound, slower) = bound(1.0 / 8.0, &[0]);
    assert!(is_bound && slower.contains("slower: at least 8.00× lower throughput (7."), "{slower}");
    // The limit of the slower side may be all of the difference, and so may that of both.
    for (factor, limited) in
        [(8.0, &[0][..]), (0.125, &[1]), (8.0, &[0, 1]), (0.125, &[0, 1]), (1.0, &[0]), (1.0, &[1])]
    {
        assert!(!bound(factor, limited).0, "{factor} {limited:?}");
    }
    // A gain that is smaller than what matters may be larger without the limit.
    assert!(bound(1.05, &[1]).1.starts_with("undecided"), "{:?}", bound(1.05, &[1]));
}

#[test]
fn a_latency_of_the_closed_loop_is_a_bound_if_the_generator_limited_the_faster_side() {
    console::set_colors_enabled(false);
    let p99 = lab_model::Percentile::P99;
    let metric = Metric::Latency(p99);
    let bound = |throughput: f64, latency: f64, limited: &[usize], metric: Metric| {
        let mut case = recorded().cases.remove(0);
        case.open_runs.clear();
        (case.minimum_effect, case.metric) = (0.1, metric);
        case.speedup.throughput = about(throughput);
        case.speedup.latency = ByPercentile::of(|at| about(latency).filter(|_| at == p99));
        let runs = case.runs.len();
        limited.iter().for_each(|at| case.variants[*at].limited_runs = runs);
        case.bound_by_generator();
        (case.verdict, case.reason) = case.judged_by(metric);
        let first = screen::verdict(&case).concat();
        (case.speedup.is_bound(Metric::Latency(p99)), format!("{first}; {}", crate::reason(&case)))
    };
    let says =
        |verdict: &str, how: &str| format!("{verdict}: {} at least 6.00× {how}", metric.name());
    // Both orders of the same two servers.
    let (is_bound, faster) = bound(8.0, 6.0, &[1], metric);
    assert!(is_bound && faster.contains(&says("faster", "lower")), "{faster}");
    assert!(faster.contains("although the generator limited the faster side"), "{faster}");
    let (is_bound, slower) = bound(1.0 / 8.0, 1.0 / 6.0, &[0], metric);
    assert!(is_bound && slower.contains(&says("slower", "as high")), "{slower}");
    // So it is where the throughput decides.
    assert!(bound(8.0, 6.0, &[1], Metric::Throughput).0);
    for (throughput, latency, limited) in [
        // Another percentile may go the other way, and then the generator's time is on the wrong side.
        (8.0, 1.0 / 6.0, &[1][..]),
        (1.0 / 8.0, 6.0, &[0]),
        (8.0, 1.0, &[1]),
        (1.0, 6.0, &[1]),
        (8.0, 6.0, &[0]),
        (8.0, 6.0, &[0, 1]),
        (8.0, 6.0, &[]),
    ] {
        let (is_bound, said) = bound(throughput, latency, limited, metric);
        assert!(!is_bound, "{throughput} {latency} {limited:?}: {said}");
    }
    let (_, little) = bound(1.05, 1.05, &[1], metric);
    assert!(little.starts_with("undecided") && little.contains("generator"), "{little}");
}

#[test]
fn the_first_line_has_what_is_clearly_worse_or_better_where_nothing_is_decided() {
    console::set_colors_enabled(false);
    let first = |memory: f64, verdict: Verdict| {
        let mut case = recorded().cases.remove(0);
        case.speedup = lab_model::Speedups {
            throughput: about(1.0),
            peak_memory: about(memory),
            ..Default::default()
        };
        case.control.speedup =
            lab_model::Speedups { peak_memory: about(1.0), ..Default::default() };
        case.verdict = verdict;
        screen::verdict(&case).concat()
    };
    let leak = first(1.0 / 320.0, Verdict::Undecided);
    let expected = "undecided in throughput; peak memory of fixed is 320× as high (31";
    assert!(leak.starts_with(expected), "{leak}");
    let less = first(4.0, Verdict::Equivalent);
    assert!(less.contains("in throughput; peak memory of fixed is 4.00× lower (3.9"), "{less}");
    assert_eq!(first(0.8, Verdict::Undecided), "undecided in throughput");
}

#[test]
fn a_count_may_be_a_range_and_what_could_not_be_counted_is_behind_v() {
    console::set_colors_enabled(false);
    let mut case = recorded().cases.remove(0);
    case.variants.truncate(2);
    case.variants.iter_mut().for_each(|it| it.exact.clear());
    case.variants[0].ranges.insert("system_calls".to_owned(), [3.0, 3.04]);
    case.variants[1].exact.insert("system_calls".to_owned(), 3.0);
    let why = "`perf` is missing".to_owned();
    case.notes.push(lab_model::Note::of("fixed", lab_model::Kind::NotCounted { why }));
    let text = screen("", &case, "-v").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("system calls 3.00–3.04 3"), "{text}");
    assert!(!text.contains("not-counted") && text.contains("more note"), "{text}");
    assert!(comparison("", &case).contains("not-counted"));
}
