//! Each rule makes its note from its threshold on, and not before.

use lab_protocol::Invalid;
use lab_stats::Speedup;
use serde_json::Value;

use super::*;
use crate::Record;

/// A case that was published once, and is worth no note.
fn calm() -> CaseRecord {
    let record = include_str!("../../tests/fixtures/record.json");
    let mut case = serde_json::from_str::<Record>(record).unwrap().cases.remove(0);
    assert!(notes(&case).is_empty());
    case.promised = None;
    case
}

/// Makes a case one that is worth the note, or only just not.
type Spoil = fn(&mut CaseRecord, bool);

fn fifths(case: &mut CaseRecord, fifths: [u64; 5]) {
    case.runs.iter_mut().for_each(|run| run.outcome.fifths = fifths.to_vec());
}

const RULES: [(&str, Spoil); 27] = [
    ("no-answers", |case, is_worth| {
        case.runs[0].outcome.ok_in_time = u64::from(!is_worth);
    }),
    ("few-answers", |case, is_worth| {
        let answers = if is_worth { 19 } else { 20 };
        case.runs.iter_mut().for_each(|run| run.outcome.ok_in_time = answers);
    }),
    ("not-warm", |case, is_worth| {
        fifths(case, [100, 100, 100, 100, if is_worth { 110 } else { 109 }]);
    }),
    ("slows-down", |case, is_worth| {
        fifths(case, [if is_worth { 110 } else { 109 }, 100, 100, 100, 100]);
    }),
    ("memory-grows", |case, is_found| {
        let (estimate, low, high, confidence) = (1.0, 0.9, 1.1, 0.96);
        case.variants[1].memory_growth = Some(Growth { estimate, low, high, confidence, is_found });
    }),
    ("falls-behind", |case, is_worth| {
        let run = case.runs[0].clone();
        case.runs.clear();
        case.pairs = 6;
        for pair in 0..6 {
            for variant in ["slow", "fixed"] {
                let mut run = run.clone();
                (run.variant, run.pair) = (variant.to_owned(), Some(pair));
                let early = if is_worth { 111 } else { 109 };
                let is_early = variant == "fixed" && pair < 3;
                run.outcome.ok_in_time = if is_early { early } else { 100 };
                case.runs.push(run);
            }
        }
    }),
    ("wrong-answers", |case, is_worth| {
        let fault = "status 500 instead of 200".to_owned();
        case.variants[1].requests.first_fault = is_worth.then_some(fault);
    }),
    ("lost-requests", |case, is_worth| case.variants[1].requests.lost = u64::from(is_worth)),
    ("reopened", |case, is_worth| {
        case.variants[1].requests.resent = 2;
        case.variants[1].reopened = 2 + u64::from(is_worth);
    }),
    ("surplus", |case, is_worth| {
        case.variants[1].reopened = 1;
        case.variants[1].requests.surplus = u64::from(is_worth);
    }),
    ("drops-requests", |case, is_worth| {
        case.variants[1].requests.sent = 10_000;
        case.variants[1].requests.resent = 10 + u64::from(is_worth);
    }),
    ("resent", |case, is_worth| {
        let open = case.variants[1].open_loop.as_mut().unwrap();
        open.requests.resent = u64::from(is_worth);
    }),
    ("generator-limited", |case, is_worth| {
        let late = Invalid::GeneratorLate { p99_ms: 8.0, lag_ms: 4.0 };
        case.variants[1].generator_limited = is_worth.then_some(lab_protocol::Limit::Invalid(late));
        case.variants[1].limited_runs = 1;
    }),
    ("generator-waited", |case, is_worth| {
        case.variants[1].generator_waited = Some(if is_worth { 0.1 } else { 0.099 });
    }),
    ("wrong-arrivals", |case, is_worth| {
        let open = case.variants[1].open_loop.as_mut().unwrap();
        open.requests.first_fault = is_worth.then(|| "status 500".to_owned());
    }),
    ("lost-arrivals", |case, is_worth| {
        case.variants[1].open_loop.as_mut().unwrap().requests.lost = u64::from(is_worth);
    }),
    ("late-arrivals", |case, is_worth| {
        let open = case.variants[1].open_loop.as_mut().unwrap();
        open.invalid = is_worth.then(|| Invalid::Sentence("late".to_owned()));
    }),
    ("unfinished", |case, is_worth| {
        case.variants[1].requests.lost = 1;
        case.variants[1].requests.unfinished = 1 + u64::from(is_worth);
    }),
    ("contradiction", |case, is_worth| {
        if is_worth {
            case.verdict = Verdict::Equivalent;
        }
    }),
    ("tails-apart", |case, is_worth| {
        let percentile = Percentile::all().rfind(|it| it.metric() == Some("latency-p99")).unwrap();
        let tails = [10.0, if is_worth { 20.0 } else { 19.9 }];
        for (variant, ms) in case.variants.iter_mut().zip(tails) {
            let latencies = &mut variant.open_loop.as_mut().unwrap().latency_ms;
            latencies.by = lab_protocol::ByPercentile::of(|at| (at == percentile).then_some(ms));
        }
    }),
    ("closed-loop-latency", |case, is_worth| {
        case.metric = Metric::of_servers().last().unwrap();
        if is_worth {
            case.open_runs.clear();
        }
    }),
    ("idles", |case, is_worth| {
        case.variants[0].throughput_rps = 100.0;
        case.variants[0].cpu_us_per_request = Some(if is_worth { 499.0 } else { 501.0 });
    }),
    ("below-promise", |case, is_worth| {
        let found = case.speedup.throughput.unwrap().estimate;
        case.promised = Some(if is_worth { found + 0.01 } else { found });
    }),
    ("neighbours", |case, is_worth| {
        neighbours(case, if is_worth { [0.05, 0.0, 0.0] } else { [0.049; 3] })
    }),
    ("steal", |case, is_worth| {
        neighbours(case, if is_worth { [0.0, 0.05, 0.0] } else { [0.049; 3] })
    }),
    ("throttled", |case, is_worth| {
        neighbours(case, if is_worth { [0.0, 0.0, 0.05] } else { [0.049; 3] })
    }),
    ("standstill", |case, is_worth| {
        let outcome = &mut case.runs[0].outcome;
        let share = if is_worth { 0.051 } else { 0.049 };
        outcome.generator_stood = Some(outcome.measured.mul_f64(share));
    }),
];

fn neighbours(case: &mut CaseRecord, [programs, stolen, throttled]: [f64; 3]) {
    let found =
        crate::Neighbours { programs: Some(programs), stolen, throttled, server_throttled: 0.0 };
    case.runs[0].neighbours = Some(found);
}

fn codes(case: &CaseRecord) -> Vec<String> {
    let code = |note: &Note| match serde_json::to_value(note).unwrap() {
        Value::Object(mut note) => note["code"].take().as_str().unwrap().to_owned(),
        _ => "note".to_owned(),
    };
    notes(case).iter().map(code).collect()
}

#[test]
fn each_note_begins_at_its_threshold() {
    for (code, spoil) in RULES {
        for is_worth in [false, true] {
            let mut case = calm();
            spoil(&mut case, is_worth);
            let codes = codes(&case);
            assert_eq!(codes.iter().any(|it| it == code), is_worth, "{code}: {codes:?}");
        }
    }
}

#[test]
fn every_note_survives_its_record() {
    let mut case = calm();
    for (_, spoil) in RULES {
        spoil(&mut case, true);
    }
    case.notes = vec![Note::Sentence("a sentence of an engine".to_owned())];
    let notes = notes(&case);
    assert!(notes.len() > 15, "{notes:?}");
    for note in notes {
        let kept = serde_json::to_value(&note).unwrap();
        assert_eq!(serde_json::from_value::<Note>(kept).unwrap(), note);
    }
    let kept = serde_json::to_value(&case).unwrap();
    assert_eq!(kept["caveats"][0], "a sentence of an engine");
}

#[test]
fn lag_that_can_decide_either_way_decides_nothing() {
    let mut case = calm();
    let metric = Metric::of_servers().last().unwrap();
    let Metric::Latency(percentile) = metric else { panic!("the last are latencies") };
    case.speedup.latency_at_least = true;
    let mut judge = |low, high| {
        let found =
            Speedup { estimate: 1.5, low, high, confidence: 0.952, inner: None, count_error: 1.0 };
        case.speedup.latency =
            lab_protocol::ByPercentile::of(|at| (at == percentile).then_some(found));
        case.control.speedup.latency = lab_protocol::ByPercentile::of(|_| None);
        case.judged_by(metric)
    };
    assert!(matches!(judge(1.4, 1.6), (Verdict::Faster, lab_protocol::Reason::Rule(_))));
    assert_eq!(judge(0.9, 2.1), (Verdict::Undecided, lab_protocol::Reason::LagDecides));
}
