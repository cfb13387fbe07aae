use std::time::Duration;

use lab_protocol::{Load, Percentile};
use lab_report::{CaseName, Record};
use lab_servers::Launch;
use lab_stats::{Look, schedule};

use super::*;
use crate::bench::Effort;

/// Servers that are never started.
fn experiment(names: &[&str]) -> Experiment {
    let mut subjects = Vec::new();
    for name in names {
        subjects.push(Subject::new(name, Launch::of_command(name, "true").unwrap(), Vec::new()));
    }
    let load = Load { users: 8, think_ms: 0, connections: 1 };
    let family = names.len() - 1;
    let until = Until::Pairs(Look::first(family).pairs);
    let effort = Effort { until, family, ..Effort::usual(true, 7) };
    Experiment::new(CaseName::OwnServers, load, subjects, effort).unwrap()
}

/// Runs in which each server answers as many requests in a second, about.
fn runs(experiment: &Experiment, answers: &[u64]) -> Runs {
    let mut runs = Runs::default();
    let Effort { until: Until::Pairs(pairs), seed, .. } = experiment.effort else { panic!() };
    for slot in schedule(answers.len(), pairs, seed) {
        let ok = answers[slot.subject] + runs.closed.len() as u64 % 3;
        let outcome = Outcome {
            sent: ok,
            ok,
            ok_in_time: ok,
            measured: Duration::from_secs(1),
            ..Outcome::default()
        };
        runs.closed.push(Run {
            variant: experiment.subjects[slot.subject].name.clone(),
            pair: slot.pair,
            seed: None,
            load_average: None,
            server: None,
            neighbours: None,
            outcome,
        });
    }
    runs
}

fn counted(subject: &str, per_visit: Result<[f64; 2], Uncounted>) -> SystemCalls {
    SystemCalls { subject: subject.to_owned(), per_visit }
}

#[test]
fn an_experiment_and_its_runs_are_enough_for_a_record() {
    let experiment = experiment(&["baseline", "candidate"]);
    let mut measured = runs(&experiment, &[10_000, 20_000]);
    measured.system_calls =
        vec![counted("baseline", Ok([5.0, 5.0])), counted("candidate", Ok([3.0, 4.0]))];
    let [record] = &assess_each(&experiment, &measured).unwrap()[..] else { panic!("one") };
    let found = record.speedup.throughput.unwrap();
    assert!((found.estimate - 2.0).abs() < 0.01, "{found:?}");
    assert_eq!((record.verdict, record.pairs, record.family), (Verdict::Faster, 6, 1));
    assert_eq!(record.runs.len(), measured.closed.len());
    assert_eq!(record.variants[0].exact["system_calls"], 5.0);
    assert_eq!(record.variants[1].ranges["system_calls"], [3.0, 4.0]);
    assert_eq!(record.notes, []);
    let slower = assess(&experiment, &runs(&experiment, &[20_000, 10_000]), "candidate").unwrap();
    assert_eq!(slower.verdict, Verdict::Slower);
    // A server without a run is an error, and no record with a hole.
    assert!(assess(&experiment, &Runs::default(), "candidate").is_err());
}

#[test]
fn each_of_several_candidates_has_the_runs_and_counts_of_its_own_pair() {
    let experiment = experiment(&["baseline", "same", "twice"]);
    let mut measured = runs(&experiment, &[10_000, 10_000, 20_000]);
    measured.system_calls =
        ["baseline", "same", "twice"].map(|name| counted(name, Ok([1.0, 1.0]))).into();
    let records = assess_each(&experiment, &measured).unwrap();
    let verdicts: Vec<_> = records.iter().map(|record| record.verdict).collect();
    assert_eq!(verdicts, [Verdict::Equivalent, Verdict::Faster]);
    for (record, name) in records.iter().zip(["same", "twice"]) {
        assert_eq!(record.family, 2);
        assert_eq!([&record.variants[0].variant, &record.variants[1].variant], ["baseline", name]);
        assert!(record.runs.iter().all(|run| ["baseline", name].contains(&&*run.variant)));
        assert!(record.variants.iter().all(|side| side.exact["system_calls"] == 1.0));
    }
}

#[test]
fn what_comes_up_while_counting_is_in_the_record_before_its_verdict() {
    let experiment = experiment(&["baseline", "candidate"]);
    let uncounted = |is_fault| Uncounted { why: "no perf".to_owned(), is_fault };
    for (is_fault, verdict) in [(false, Verdict::Faster), (true, Verdict::Undecided)] {
        let mut measured = runs(&experiment, &[10_000, 20_000]);
        measured.system_calls = vec![counted("candidate", Err(uncounted(is_fault)))];
        let record = assess(&experiment, &measured, "candidate").unwrap();
        assert_eq!(record.verdict, verdict);
        assert_eq!(record.notes.len(), usize::from(!is_fault));
        let requests = &record.variants[1].requests;
        assert_eq!(requests.first_fault.as_deref(), is_fault.then_some("no perf"));
        assert_eq!(
            (requests.wrong, requests.sent - requests.ok),
            (is_fault.into(), is_fault.into())
        );
    }
}

#[test]
fn a_generator_that_limits_the_faster_side_leaves_the_verdict() {
    let record = include_str!("../../../../report/tests/fixtures/record.json");
    let case = serde_json::from_str::<Record>(record).unwrap().cases.remove(0);
    let [baseline, candidate] = case.names().map(str::to_owned);
    let judged = |limited: &[&String]| {
        let mut case = case.clone();
        let runs = case.runs.len();
        let sides = case.variants.iter_mut().filter(|it| limited.contains(&&it.variant));
        sides.for_each(|side| side.limited_runs = runs);
        case.bound_by_generator();
        verdict(&case, &candidate)
    };
    assert_eq!(judged(&[]).0, Verdict::Faster);
    assert_eq!(judged(&[&candidate]).0, Verdict::Faster);
    for limited in [&[&baseline][..], &[&baseline, &candidate]] {
        let variants = limited.iter().map(|it| (*it).clone()).collect();
        assert_eq!(judged(limited), (Verdict::Undecided, Reason::GeneratorDecides { variants }));
    }
}

#[test]
fn it_leaves_the_verdict_on_a_latency_of_the_closed_loop_too() {
    let record = include_str!("../../../../report/tests/fixtures/record.json");
    let mut case = serde_json::from_str::<Record>(record).unwrap().cases.remove(0);
    case.metric = Metric::Latency(Percentile::P99);
    case.open_runs.clear();
    let [_, candidate] = case.names().map(str::to_owned);
    let of = |speedup: Option<lab_stats::Speedup>| {
        ByPercentile::of(|at| speedup.filter(|_| at == Percentile::P99))
    };
    case.control.speedup.latency = of(case.control.speedup.throughput);
    let (gain, loss) = (case.speedup.throughput, case.speedup.throughput.map(inverse));
    // Which side is faster, and which one the generator limited.
    for (factor, limited, verdict) in [
        (gain, 1, Verdict::Faster),
        (loss, 0, Verdict::Slower),
        (gain, 0, Verdict::Undecided),
        (loss, 1, Verdict::Undecided),
    ] {
        let mut case = case.clone();
        case.speedup.throughput = factor;
        case.speedup.latency = of(factor);
        case.variants[limited].limited_runs = case.runs.len();
        case.bound_by_generator();
        let (found, reason) = super::verdict(&case, &candidate);
        assert_eq!(found, verdict, "{limited}: {reason:?}");
    }
}

fn inverse(it: lab_stats::Speedup) -> lab_stats::Speedup {
    let (estimate, low, high) = (1.0 / it.estimate, 1.0 / it.high, 1.0 / it.low);
    let inner = it.inner.map(|[low, high]| [1.0 / high, 1.0 / low]);
    lab_stats::Speedup { estimate, low, high, inner, ..it }
}
