//! Every sentence, from its figures, and that every code is explained.

use std::{collections::BTreeSet, fmt::Debug};

use lab_protocol::{Invalid, Limit, NoteKind, Taken};
use lab_stats::{Verdict, VerdictRule as Rule};
use serde::de::DeserializeOwned;

use super::*;

/// Each kind of result once.
fn all() -> Vec<Value> {
    let first = || "status 500 instead of 200".to_owned();
    let request = || "GET /".to_owned();
    let advice = || "start Node with `--perf-basic-prof`".to_owned();
    let late = Invalid::GeneratorLate { p99_ms: 6.7, lag_ms: 2.5 };
    let (busy, waited) = (0.4, 0.55);
    let taken = Taken { most: 0.31, least: 0.05, in_runs: 2, of_runs: 24 };
    let (low, high, confidence, minimum) = (1.02, 1.08, 0.957, 1.03);
    let (control, noise_factor) = (1.031, 1.062);
    let why = Limit::GeneratorSaturated { busy, waited };
    let kinds = [
        NoteKind::NoAnswers { runs: 1 },
        NoteKind::FewAnswers { answers: 8.0, wider: 0.125, measurement_s: 11.25 },
        NoteKind::NotWarm { gain: 1.3 },
        NoteKind::SlowsDown { loss: 1.3 },
        NoteKind::MemoryGrows { low: 2.91, high: 3.4, measurement_s: 60.0 },
        NoteKind::FallsBehind { loss: 1.3 },
        NoteKind::WrongAnswers { wrong: 2_000, failed: 1, first: first() },
        NoteKind::LostRequests { requests: 1 },
        NoteKind::Reopened { connections: 4 },
        NoteKind::Surplus { connections: 4 },
        NoteKind::DropsRequests,
        NoteKind::Resent { requests: 2_532 },
        NoteKind::GeneratorLimited { limited: 2, runs: 6, why },
        NoteKind::GeneratorWaited { share: 0.23 },
        NoteKind::WrongArrivals { first: first() },
        NoteKind::LostArrivals { arrivals: 3 },
        NoteKind::LateArrivals { why: late.clone() },
        NoteKind::Unfinished { unfinished: 47_522, sent: 48_400, settled_ms: 153e3 },
        NoteKind::NoCpuTime { why: "its process cannot be seen from here".to_owned() },
        NoteKind::InexactCpuTime { runs: 2, of_runs: 12 },
        NoteKind::NoMemory { runs: 12, of_runs: 12 },
        NoteKind::TailsApart { baseline_ms: 10.0, candidate_ms: 25.0 },
        NoteKind::Idles { share: 0.018 },
        NoteKind::Complained { line: "WARN no io_uring here, falling back to epoll".to_owned() },
        NoteKind::EncodedApart { request: request(), bytes: 46_123, baseline_bytes: 86_924 },
        NoteKind::AnswersVary { request: request(), from: 40, to: 168 },
        NoteKind::OnlyLength { request: request(), from: 9, to: 9 },
        NoteKind::OnlyStatus { request: request() },
        NoteKind::LongWarmUp { warm_up_s: 4.0, gain: 2.2 },
        NoteKind::StillWarming { warm_up_s: 20.0, gain: 2.2 },
    ];
    let of_all = [
        NoteKind::Neighbours(taken),
        NoteKind::Steal(taken),
        NoteKind::Throttled(taken),
        NoteKind::Standstill(taken),
        NoteKind::Contradiction {
            metric: Metric::Cpu,
            factor: 0.5,
            decides: Metric::Throughput,
            verdict: Verdict::SlightlyFaster,
        },
        NoteKind::NotInAll { benches: vec!["a".to_owned(), "b".to_owned()] },
        NoteKind::NotCompared { benches: vec!["parse (its time is 0)".to_owned()] },
        NoteKind::ClosedLoopLatency,
        NoteKind::NoSamples,
        NoteKind::AlmostIdle { used_ms: 93.0, window_ms: 10e3, samples: 46 },
        NoteKind::FewSamples { samples: 150 },
        NoteKind::CutStacks { share: 0.996, advice: advice() },
        NoteKind::NamelessCode { share: 0.5, advice: advice() },
        NoteKind::LostSamples { share: 0.12 },
        NoteKind::KernelInCallers,
        NoteKind::KernelMissing,
        NoteKind::CpuDisagrees { sampled_ms: 5e3, counted_ms: 10e3 },
        NoteKind::RateLowered { rate: 199, usual: 499, gigabytes: 2.0 },
        NoteKind::NotCounted { why: "`perf` is missing".to_owned() },
        NoteKind::Starved { share: 0.4 },
        NoteKind::BusyMachine { share: 0.54 },
        NoteKind::NotChecked { suspects: vec!["a lock".to_owned(), "a pool".to_owned()] },
        NoteKind::BelowPromise { metric: Metric::Throughput, promised: 4.0, found: 3.1 },
    ];
    let reasons = [
        Reason::Unclean,
        Reason::EmptyRuns { measurement_s: 8.75 },
        Reason::GeneratorDecides { variants: vec!["slow".to_owned(), "fixed".to_owned()] },
        Reason::SideThrottled { variant: "fixed".to_owned(), share: 0.36 },
        Reason::StandstillDecides { variant: "fixed".to_owned(), share: 0.36 },
        Reason::CpuUnknown,
        Reason::MemoryUnknown,
        Reason::NotMeasured { why: "the candidate has no time of it".to_owned() },
        Reason::PercentileUnknown,
        Reason::LagDecides,
        Reason::Rule(Rule::NoRatio),
        Reason::Rule(Rule::FewPairs { confidence: 0.949 }),
        Reason::Rule(Rule::NoControl { low, high, confidence }),
        Reason::Rule(Rule::BeyondNoise {
            low: 268.0,
            high: 272.0,
            confidence,
            control: 1.001,
            noise_factor,
        }),
        Reason::Rule(Rule::WithinNoise { low, high, confidence, control, noise_factor }),
        Reason::Rule(Rule::BelowMinimum { estimate: 0.985, inner: [0.977, 0.993], minimum }),
        Reason::Rule(Rule::NoDifference { inner: [0.99, 1.01], minimum }),
        Reason::Rule(Rule::NoisyControl {
            inner: [0.99, 1.01],
            minimum,
            control: 1.04,
            noise_factor,
        }),
        Reason::Rule(Rule::NearMinimum { estimate: 1.025, low: 1.01, high: 1.04, minimum }),
        Reason::Rule(Rule::WideInterval { low: 0.42, high: 2.1, minimum }),
    ];
    let engine = "k6".to_owned();
    let limits = [
        Limit::EngineSaturated { engine, busy, waited },
        Limit::GeneratorSaturated { busy, waited },
        Limit::Invalid(late),
    ];
    let kinds = kinds.map(|it| Note::of("fixed", it)).into_iter().chain(of_all.map(Note::from));
    let kinds = kinds.map(|it| serde_json::to_value(it).unwrap());
    let reasons = reasons.iter().map(|it| serde_json::to_value(it).unwrap());
    kinds.chain(reasons).chain(limits.iter().map(|it| serde_json::to_value(it).unwrap())).collect()
}

#[test]
fn every_result_has_its_sentence() {
    let line = |it: &Value| format!("{}: {}", code(it).unwrap(), sentence(it));
    let lines = all().iter().map(line).collect::<Vec<_>>().join("\n");
    for missing in [NONE, "{", "}"] {
        assert!(!lines.contains(missing), "{missing} in {lines}");
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn every_code_is_explained_and_every_explanation_has_a_code() {
    let note = SOMEBODYS.to_owned();
    let made: BTreeSet<_> = all().iter().filter_map(code).chain([note]).collect();
    let codes: Vec<_> = EXPLANATIONS.iter().map(|it| it.code.to_owned()).collect();
    assert_eq!(made.into_iter().collect::<Vec<_>>(), codes, "in alphabetical order");
    for language in [TextLanguage::English, TextLanguage::Chinese] {
        let page = explained(language);
        assert!(!page.contains(['{', '}']), "a slot is shown by its name");
        assert!(page.contains("## steal\n") && !page.contains("<!--"));
    }
    assert!(NOISE.iter().all(|code| codes.iter().any(|it| it == code)));
    assert!(EXPLANATIONS.iter().all(|it| !it.meaning.contains('\n') && !it.more.is_empty()));
}

/// All codes of an enum, which serde names if it is asked for another one.
fn codes_of<T: DeserializeOwned + Debug>() -> Vec<String> {
    let error = serde_json::from_value::<T>(json!({ "code": "?" })).unwrap_err().to_string();
    let (_, names) = error.split_once("expected one of ").unwrap();
    names.split(", ").map(|name| name.trim_matches('`').to_owned()).collect()
}

/// All codes of an enum that has other forms, too, so that serde doesn't name them: from its source.
fn codes_in_source(name: &str) -> Vec<String> {
    let (_, text) = include_str!("../../../protocol/src/note.rs")
        .split_once(&format!("enum {name} {{\n"))
        .unwrap();
    let lines: Vec<_> = text.lines().take_while(|line| *line != "}").map(str::trim).collect();
    let is_variant = |line: &&str| line.starts_with(|it: char| it.is_ascii_uppercase());
    let coded = lines.windows(2).filter(|pair| pair[0] != "#[serde(untagged)]").map(|pair| pair[1]);
    coded
        .filter(is_variant)
        .map(|line| {
            let name = line.split(|it: char| !it.is_ascii_alphanumeric()).next().unwrap();
            let kebab = name.chars().map(|it| match it {
                it if it.is_ascii_uppercase() => format!("-{}", it.to_ascii_lowercase()),
                it => it.to_string(),
            });
            kebab.collect::<String>().trim_start_matches('-').to_owned()
        })
        .collect()
}

#[test]
fn a_new_note_reason_or_rule_needs_a_sentence() {
    let explained: Vec<_> = EXPLANATIONS.iter().map(|it| it.code.to_owned()).collect();
    let in_source = ["Reason", "Limit", "Invalid"].map(codes_in_source);
    assert!(in_source.iter().all(|codes| !codes.is_empty()), "{in_source:?}");
    let all = [codes_of::<NoteKind>(), codes_of::<Rule>(), in_source.concat()].concat();
    let missing: Vec<_> = all.iter().filter(|code| !explained.contains(code)).collect();
    assert!(missing.is_empty() && all.len() > 60, "{missing:?} of {} in codes.md", all.len());
}

#[test]
fn a_unit_that_does_not_exist_is_an_error() {
    let error = slot("share:percent").err().unwrap();
    assert_eq!(error.to_string(), "no unit is called `percent`");
}

#[test]
fn a_sentence_of_somebody_else_stays_as_it_is() {
    let note = Note::Sentence("it {sees} no bodies".to_owned());
    assert_eq!((noted(&note), code(&note)), ("note: it {sees} no bodies".to_owned(), None));
    let first = "a {b} c".to_owned();
    let note = Note::of("fixed", NoteKind::WrongArrivals { first });
    assert_eq!(
        noted(&note),
        "note[wrong-arrivals]: fixed: wrong or failed in the open loop: a {b} c"
    );
}
