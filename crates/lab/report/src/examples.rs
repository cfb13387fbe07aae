//! Records for the tests of what is shown.

use lab_protocol::{Invalid, Limit, Metric, Note, NoteKind, Reason, Spacing};
use lab_stats::{Speedup, Verdict};

use crate::{Neighbours, Record};

pub(crate) fn recorded() -> Record {
    serde_json::from_str(include_str!("../tests/fixtures/record.json")).unwrap()
}

/// A comparison in which nearly everything went wrong that is worth a note.
pub(crate) fn troubled() -> Record {
    let mut record = recorded();
    let mut case = record.cases.swap_remove(0);
    record.cases.clear();
    let runs = case.runs.len();
    for (at, run) in case.runs.iter_mut().enumerate() {
        let gains = if run.variant == "slow" { [9, 8, 8, 8, 8] } else { [6, 9, 9, 9, 9] };
        run.outcome.fifths = gains.map(|gain| gain * 10).to_vec();
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
        Note::of("slow", NoteKind::AnswersVary { request: "GET /".to_owned(), from: 40, to: 168 }),
        Note::Sentence("a sentence of an engine".to_owned()),
    ];
    case.promised = Some(99.0);
    record.cases.push(case);
    record
}

/// A record whose verdict is about a latency, and whose difference could be chance.
pub(crate) fn about_latency() -> Record {
    let mut record = recorded();
    record.cases.truncate(1);
    let case = &mut record.cases[0];
    case.metric = Metric::all().find(|metric| metric.name() == "p99 latency").unwrap();
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

/// Three candidates against one baseline: faster, slower and undecided.
pub(crate) fn candidates() -> Record {
    let mut record = recorded();
    record.cases.truncate(3);
    record.command =
        ["lab", "compare", "./old", "./new", "./other", "./odd"].map(str::to_owned).into();
    for (case, name) in record.cases.iter_mut().zip(["new", "other", "odd"]) {
        case.case = name.into();
        case.variants[0].variant = "baseline".to_owned();
        case.variants[1].variant = name.to_owned();
        case.candidate = name.to_owned();
    }
    record.cases[1].verdict = Verdict::Slower;
    (record.cases[2].verdict, record.cases[2].reason) = (Verdict::Undecided, Reason::LagDecides);
    record
}
