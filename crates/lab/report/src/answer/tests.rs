use super::*;
use crate::{
    Cell, Meaning,
    examples::{candidates, recorded},
};
use lab_protocol::{ByPercentile, Metric, Speedups};
use lab_stats::Speedup;

/// The first line without colours.
fn headline(case: &CaseRecord) -> String {
    Headline::of_case(case).text()
}

/// The rows whose name is marked, and those whose last cell says so.
fn deciding(answer: &ComparisonAnswer) -> [Vec<String>; 2] {
    let name = |row: &Vec<Cell>| row[0].text.clone();
    let rows = || answer.table.rows.iter();
    let marked = rows().filter(|row| row[0].meaning == Meaning::Decides).map(name).collect();
    [marked, rows().filter(|row| row[4] == "decides").map(name).collect()]
}

#[test]
fn a_factor_means_what_its_metric_shows() {
    let mut case = recorded().cases.remove(0);
    case.speedup.throughput = about(1.0 / 8.0);
    case.speedup.cpu_per_request = about(1.0);
    case.control.speedup.cpu_per_request = about(1.0);
    let meaning = |case: &CaseRecord, metric: Metric| {
        let table = ComparisonAnswer::of_case(case).table;
        let name = case.short(metric);
        let row = table.rows.iter().find(|row| row[0] == name.as_str()).unwrap();
        row[3].meaning
    };
    assert_eq!(meaning(&case, Metric::Throughput), Meaning::Factor(Verdict::Slower));
    assert_eq!(meaning(&case, Metric::Cpu), Meaning::Plain, "nothing is shown");
    case.speedup.cpu_per_request = about(8.0);
    assert_eq!(meaning(&case, Metric::Cpu), Meaning::Factor(Verdict::Faster));
    // What an idle server costs says nothing about its requests.
    case.variants[0].throughput_rps = 1.0;
    assert_eq!(meaning(&case, Metric::Cpu), Meaning::Plain);
}

#[test]
fn only_the_metric_of_the_verdict_decides_and_none_without_a_factor() {
    let mut case = recorded().cases.remove(0);
    assert_eq!(deciding(&ComparisonAnswer::of_case(&case)), [["req/s"], ["req/s"]]);
    case.speedup.throughput = None;
    assert_eq!(deciding(&ComparisonAnswer::of_case(&case)).concat(), [""; 0]);
    case.metric = Metric::Cpu;
    assert_eq!(deciding(&ComparisonAnswer::of_case(&case)), [["CPU/req"], ["CPU/req"]]);
}

#[test]
fn each_candidate_has_its_verdict_and_the_baseline_none() {
    let record = candidates();
    let answer = ComparisonAnswer::of(&record);
    let verdicts = answer.table.rows.iter().map(|row| row[1].meaning);
    let all = [Verdict::Faster, Verdict::Slower, Verdict::Undecided];
    let expected = all.map(Meaning::Verdict);
    assert_eq!(verdicts.collect::<Vec<_>>(), [&[Meaning::Plain], &expected[..]].concat());
    let names = answer.table.rows.iter().filter(|row| row[0].meaning == Meaning::Case);
    let names: Vec<_> = names.map(|row| row[0].text.clone()).collect();
    assert_eq!(names, ["new", "other", "odd"]);
    let Headline::Candidates(groups) = answer.headline else { panic!("{:?}", answer.headline) };
    let groups: Vec<_> = groups.iter().map(|it| (it.verdict, it.in_words())).collect();
    assert_eq!(groups, all.into_iter().zip(names).collect::<Vec<_>>());
    assert_eq!(worst(record.cases.iter()), Verdict::Slower);
    let reasons: Vec<_> = answer.reasons.iter().map(VerdictReason::is_decided).collect();
    assert_eq!(reasons, [true, true, false]);
}

#[test]
fn cases_are_a_row_each() {
    let mut record = recorded();
    record.quick = true;
    let answer = ComparisonAnswer::of(&record);
    assert!(matches!(answer.headline, Headline::Cases { .. }) && answer.is_quick);
    assert_eq!(answer.headline.text(), "fixed is faster in 4 of 4 cases");
    assert_eq!(answer.table.rows.len(), record.cases.len());
    for (row, case) in answer.table.rows.iter().zip(&record.cases) {
        assert_eq!(row[0], Cell::new(case.case.as_str(), Meaning::Case));
        assert_eq!(row[1].meaning, Meaning::Verdict(case.verdict));
    }
    assert_eq!(answer.spare_columns, ["slow → fixed"]);
    assert_eq!(answer.notes, FirstNotes::default());
    record.cases.clear();
    assert_eq!(ComparisonAnswer::of(&record).table, Table::default(), "nothing was measured");
}

/// A factor whose interval is 3 % wide on both sides.
fn about(estimate: f64) -> Option<Speedup> {
    Speedup::of_pairs([0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03].map(|noise| noise * estimate))
}

#[test]
fn a_generator_that_limits_the_faster_side_makes_the_factor_a_bound() {
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
        (case.speedup.throughput_at_least, headline(&case))
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
    let p99 = lab_protocol::Percentile::P99;
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
        let first = headline(&case);
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
    let first = |memory: f64, verdict: Verdict| {
        let mut case = recorded().cases.remove(0);
        case.speedup =
            Speedups { throughput: about(1.0), peak_memory: about(memory), ..Default::default() };
        case.control.speedup = Speedups { peak_memory: about(1.0), ..Default::default() };
        case.verdict = verdict;
        headline(&case)
    };
    let leak = first(1.0 / 320.0, Verdict::Undecided);
    let expected = "undecided in throughput; peak memory of fixed is 320× as high (31";
    assert!(leak.starts_with(expected), "{leak}");
    let less = first(4.0, Verdict::Equivalent);
    assert!(less.contains("in throughput; peak memory of fixed is 4.00× lower (3.9"), "{less}");
    assert_eq!(first(0.8, Verdict::Undecided), "undecided in throughput");
}

#[test]
fn a_count_may_be_a_range() {
    let mut case = recorded().cases.remove(0);
    case.variants.truncate(2);
    case.variants.iter_mut().for_each(|it| it.exact.clear());
    case.variants[0].ranges.insert("system_calls".to_owned(), [3.0, 3.04]);
    case.variants[1].exact.insert("system_calls".to_owned(), 3.0);
    let answer = ComparisonAnswer::of_case(&case);
    let row = answer.table.rows.iter().find(|row| row[0] == "system calls").unwrap();
    assert_eq!(row[1..3], ["3.00–3.04", "3"]);
}

#[test]
fn what_could_not_be_counted_is_behind_v() {
    let mut case = recorded().cases.remove(0);
    let why = "`perf` is missing".to_owned();
    case.notes.push(lab_protocol::Note::of("fixed", lab_protocol::NoteKind::NotCounted { why }));
    let answer = ComparisonAnswer::of_case(&case);
    assert!(answer.notes.lines.iter().all(|note| note.code.as_deref() != Some("not-counted")));
    assert!(answer.notes.rest > 0, "{:?}", answer.notes);
    assert!(notes(&case).iter().any(|it| crate::code(it).as_deref() == Some("not-counted")));
}
