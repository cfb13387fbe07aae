//! The verdict in one line.

use lab_protocol::{Metric, Reason};
use lab_stats::{Speedup, Verdict};

use crate::{CaseRecord, factor, join, shortened, significant, turned};

/// From this factor on, a metric that doesn't decide is worth the first line.
const CLEAR: f64 = 2.0;

/// The verdict of one comparison or of several, in parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Headline {
    /// `fixed is `, `faster`, `: 7.26× the throughput (6.92–7.68)`
    Case {
        before: String,
        verdict: Verdict,
        after: String,
    },
    Candidates(Vec<VerdictGroup>),
    /// Several cases, with the name that their candidates share.
    Cases {
        candidate: String,
        groups: Vec<VerdictGroup>,
    },
}

/// The candidates or the cases that have a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictGroup {
    pub verdict: Verdict,
    pub names: Vec<String>,
}

impl VerdictGroup {
    /// `mimalloc and jemalloc`
    pub fn in_words(&self) -> String {
        let names: Vec<_> = self.names.iter().map(|name| shortened(name)).collect();
        join(&names)
    }
}

/// All verdicts that something has, the best first.
pub(super) fn by_verdict(cases: &[CaseRecord]) -> Vec<VerdictGroup> {
    let verdicts = [
        Verdict::Faster,
        Verdict::SlightlyFaster,
        Verdict::Slower,
        Verdict::SlightlySlower,
        Verdict::Equivalent,
        Verdict::Undecided,
    ];
    let mut groups = Vec::new();
    for verdict in verdicts {
        let cases = cases.iter().filter(|case| case.verdict == verdict);
        let names: Vec<_> = cases.map(|case| case.case.to_string()).collect();
        if !names.is_empty() {
            groups.push(VerdictGroup { verdict, names });
        }
    }
    groups
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

impl Headline {
    /// `fixed is faster: 7.26× the throughput (6.92–7.68)`, `faster: mimalloc and jemalloc; undecided: musl`, or `fixed
    /// is faster in 5 of 6 cases`
    pub fn text(&self) -> String {
        match self {
            Self::Case { before, verdict, after } => format!("{before}{verdict}{after}"),
            Self::Candidates(groups) => {
                let text =
                    |group: &VerdictGroup| format!("{}: {}", group.verdict, group.in_words());
                groups.iter().map(text).collect::<Vec<_>>().join("; ")
            }
            Self::Cases { candidate, groups } => {
                let (mut faster, mut all) = (0, 0);
                for group in groups {
                    all += group.names.len();
                    if group.verdict == Verdict::Faster {
                        faster = group.names.len();
                    }
                }
                format!("{candidate} is faster in {faster} of {all} cases")
            }
        }
    }

    pub(super) fn of_cases(cases: &[CaseRecord]) -> Self {
        let [_, candidate] = cases.first().map(CaseRecord::names).unwrap_or_default();
        Self::Cases { candidate: candidate.to_owned(), groups: by_verdict(cases) }
    }

    pub(super) fn of_case(case: &CaseRecord) -> Self {
        let [_, candidate] = case.names();
        let metric = case.metric;
        let candidate = format!("{candidate} is ");
        let other = other(case).map_or(String::new(), |other| format!("; {other}"));
        let [before, after] = match (case.verdict, case.speedup.of(metric)) {
            (Verdict::Undecided, _) => [String::new(), format!(" in {}{other}", metric.name())],
            (Verdict::Equivalent, _) => [candidate, format!(" in {}{other}", metric.name())],
            (_, Some(found)) => {
                let bound = if case.speedup.is_bound(metric) { "at least " } else { "" };
                [candidate, format!(": {}", amount(metric, found, bound))]
            }
            (_, None) => [candidate, String::new()],
        };
        Self::Case { before, verdict: case.verdict, after }
    }
}

/// Where the metric that decides shows no difference, the one that differs most, if it is clearly better or worse: a
/// server that leaks is not just undecided. Nothing is said of runs with faults, or of a rate that something else
/// limits.
fn other(case: &CaseRecord) -> Option<String> {
    if case.has_faults() {
        return None;
    }
    let is_limited = matches!(
        case.reason,
        Reason::GeneratorDecides { .. }
            | Reason::SideThrottled { .. }
            | Reason::StandstillDecides { .. }
            | Reason::EmptyRuns { .. }
    );
    let is_shown = |metric: &Metric| {
        let is_clear = matches!(case.judged_by(*metric).0, Verdict::Faster | Verdict::Slower);
        let is_idling = *metric == Metric::Cpu && case.idle_baseline().is_some();
        *metric != case.metric && is_clear && !is_idling && !(is_limited && metric.is_of_rate())
    };
    let found = Metric::all().filter(is_shown);
    let found = found.filter_map(|metric| Some((metric, case.speedup.of(metric)?)));
    let (metric, most) =
        found.max_by(|(_, one), (_, other)| one.distance().total_cmp(&other.distance()))?;
    let bound = if case.speedup.is_bound(metric) { "at least " } else { "" };
    (most.distance() >= CLEAR).then(|| {
        let [_, candidate] = case.names();
        match metric {
            Metric::Throughput => format!("{candidate} has {}", amount(metric, most, bound)),
            _ => format!("{} of {candidate} is {}", metric.name(), of_cost(most, bound)),
        }
    })
}

/// How much more or less, with the interval: `3.10× the throughput (2.84–3.41)`, `58.0× lower throughput (57.1–59.2)`.
fn amount(metric: Metric, found: &Speedup, bound: &str) -> String {
    let &Speedup { estimate, low, high, .. } = found;
    let name = metric.name();
    let interval = |low: f64, high: f64| format!("({}–{})", significant(low), significant(high));
    if let (Metric::Throughput, Some(loss)) = (metric, turned(found)) {
        let Speedup { estimate, low, high, .. } = loss;
        return format!("{bound}{} lower {name} {}", factor(estimate), interval(low, high));
    }
    match metric {
        Metric::Throughput => {
            format!("{bound}{} the {name} {}", factor(estimate), interval(low, high))
        }
        _ => format!("{name} {}", of_cost(found, bound)),
    }
}

/// How much less or more of a cost: above 1 is less of it.
fn of_cost(found: &Speedup, bound: &str) -> String {
    let &Speedup { estimate, low, high, .. } = found;
    let (estimate, low, high, word) = if estimate >= 1.0 {
        (estimate, low, high, "lower")
    } else {
        (1.0 / estimate, 1.0 / high, 1.0 / low, "as high")
    };
    format!("{bound}{} {word} ({}–{})", factor(estimate), significant(low), significant(high))
}
