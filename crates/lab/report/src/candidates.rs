//! Several candidates against one baseline, a row each.

use std::fmt::Write as _;

use console::style;
use lab_model::{Kind, Metric, Note, Percentile};
use lab_stats::Verdict;

use crate::{
    CaseRecord, NONE, Record, Table, VariantRecord, cases, join, notes, paragraph,
    screen::{closing_of_comparison, coloured, in_pairs, why},
    shortened,
    summary::{fitting, with_verdicts},
    tables::{factor_of, figure_of, noise_of},
};

/// What a narrow terminal leaves out, first to last: names of columns.
const LESS: [&str; 4] = ["p99", "CPU/req", "peak MiB", "baseline → candidate"];

/// Of how many candidates it says why nothing is decided.
const REASONS: usize = 2;

/// Which of them are what: `faster: mimalloc and jemalloc; undecided: musl`.
pub fn tally(cases: &[CaseRecord]) -> Vec<(Verdict, String)> {
    let verdicts = [
        Verdict::Faster,
        Verdict::SlightlyFaster,
        Verdict::Slower,
        Verdict::SlightlySlower,
        Verdict::Equivalent,
        Verdict::Undecided,
    ];
    let of = |verdict: Verdict| {
        let names = cases.iter().filter(|it| it.verdict == verdict).map(|it| shortened(&it.case));
        let names: Vec<_> = names.collect();
        (!names.is_empty()).then(|| (verdict, join(&names)))
    };
    verdicts.into_iter().filter_map(of).collect()
}

/// The verdict that says most against a change.
pub fn worst<'a>(cases: impl Iterator<Item = &'a CaseRecord>) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Slower => 0,
        Verdict::Undecided => 1,
        Verdict::SlightlySlower => 2,
        Verdict::Equivalent => 3,
        Verdict::SlightlyFaster => 4,
        Verdict::Faster => 5,
    };
    cases.map(|case| case.verdict).min_by_key(rank).unwrap_or_default()
}

/// A row for each case of a record.
pub fn rows(record: &Record) -> Table {
    if record.is_of_own_servers() { own_rows(&record.cases) } else { cases(&record.cases) }
}

/// The same of `lab compare`: benchmarks have no baseline in common.
fn own_rows(all: &[CaseRecord]) -> Table {
    let is_of_benches = all.first().is_some_and(|case| case.metric == Metric::Time);
    if is_of_benches { cases(all) } else { candidates(all) }
}

/// The baseline, and each candidate with its verdict: what decides, and what it costs.
fn candidates(cases: &[CaseRecord]) -> Table {
    let Some(first) = cases.first() else { return Table::default() };
    let mut metrics =
        vec![Metric::Throughput, Metric::Cpu, Metric::Latency(Percentile::P99), Metric::PeakMemory];
    if !metrics.contains(&first.metric) {
        metrics.insert(0, first.metric);
    }
    let figures = |case: &CaseRecord, variant: &VariantRecord| {
        metrics.iter().map(|metric| figure_of(case, variant, *metric)).collect::<Vec<_>>()
    };
    let row = |first: [String; 4], figures: Vec<String>| {
        first.into_iter().chain(figures).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    if let Some((baseline, _)) = first.sides() {
        let figures = figures(first, baseline);
        let [verdict, factor, noise] = Default::default();
        rows.push(row([baseline.variant.clone(), verdict, factor, noise], figures));
    }
    for case in cases {
        let Some((_, candidate)) = case.sides() else { continue };
        let factor = factor_of(&case.speedup, case.metric);
        let first = [
            candidate.variant.clone(),
            case.verdict.to_string(),
            factor,
            noise_of(case, case.metric),
        ];
        rows.push(row(first, figures(case, candidate)));
    }
    let names = metrics.iter().map(|metric| first.short(*metric));
    let head = ["", "verdict", "factor", "noise"].map(str::to_owned).into_iter().chain(names);
    let head: Vec<_> = head.collect();
    // What nothing has, such as a percentile of few answers.
    let is_known = |at: &usize| *at < 4 || rows.iter().any(|row: &Vec<String>| row[*at] != NONE);
    let known: Vec<_> = (0..head.len()).filter(is_known).collect();
    Table::new(how(first), head, rows).columns(&known)
}

/// What the noise of a candidate is, and how all were measured.
fn how(case: &CaseRecord) -> String {
    format!("noise: what two equal servers could differ by; {}.", in_pairs(case))
}

/// In a terminal: which are faster, a row each, and what to know. `more` says how to see the rest.
pub fn screen_of_candidates(cases: &[CaseRecord], more: &str) -> String {
    let tally = tally(cases).into_iter().map(|(verdict, names)| {
        format!("{}: {}", coloured(verdict, &verdict.to_string()), style(names).bold())
    });
    let tally = paragraph(&tally.collect::<Vec<_>>().join("; "));
    let table = with_verdicts(&fitting(own_rows(cases), &LESS), cases);
    let mut text = format!("{tally}\n\n{table}\n\n");
    if let Some(first) = cases.first() {
        let _ = writeln!(text, "{}", paragraph(&how(first)));
    }
    let undecided: Vec<_> = cases.iter().filter(|it| it.verdict == Verdict::Undecided).collect();
    for case in undecided.iter().take(REASONS) {
        let why = why(case).unwrap_or_default();
        let _ = writeln!(text, "{}", paragraph(&format!("{}: {why}", shortened(&case.case))));
    }
    if let Some(rest) = undecided.len().checked_sub(REASONS).filter(|rest| *rest > 0) {
        let _ = writeln!(text, "{}", paragraph(&format!("and {rest} more undecided: -v")));
    }
    text + &closing_of_comparison(cases.iter().flat_map(named_notes).collect(), more)
}

/// The notes of a case, with its candidate's name on those that are about its verdict.
fn named_notes(case: &CaseRecord) -> Vec<Note> {
    let named = |note| match note {
        Note::Known {
            variant: None,
            kind:
                kind @ (Kind::Contradiction { .. } | Kind::TailsApart { .. } | Kind::FallsBehind { .. }),
        } => Note::of(case.names()[1], kind),
        other => other,
    };
    notes(case).into_iter().map(named).collect()
}
