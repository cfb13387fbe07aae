//! Under which conditions a run was made: who else used the processors, and when its server or generator stood still.

use lab_protocol::{Metric, Note, NoteKind, Taken};
use lab_stats::median_of;
use serde::{Deserialize, Serialize};

use crate::{CaseRecord, Run, VariantRecord};

/// The use of the processors by others during a run, from the start of its load to its end. Shares of the
/// time of all processors of the machine, from 0 to 1.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Neighbours {
    /// The share of programs other than the server, its companions, the load generator and `lab` itself;
    /// `None` if the CPU time of the server is not known.
    pub programs: Option<f64>,
    /// The share that the host gave to other virtual machines, although this one had work.
    pub stolen: f64,
    /// How long CPU quotas stopped programs of the control groups of `lab` and of the server, although they had
    /// work.
    pub throttled: f64,
    /// The part of it that is of groups in which the server is, and `lab` isn't.
    #[serde(default)]
    pub server_throttled: f64,
}

/// From this share on, each of them is worth a note.
const MUCH: f64 = 0.05;

impl CaseRecord {
    /// The side whose quota stopped it while the other side was not, with the median share of its runs: the
    /// difference may be the quota's.
    pub fn throttled_side(&self) -> Option<(String, f64)> {
        let (one, other) = self.sides()?;
        let share = |side: &VariantRecord| {
            let runs = self.runs.iter().chain(&self.open_runs);
            let of_side = runs.filter(|run| run.variant == side.variant);
            median_of(of_side.filter_map(|run| Some(run.neighbours?.server_throttled)))
        };
        let sides =
            [one, other].map(|side| (side.variant.clone(), share(side).unwrap_or_default()));
        let mut much = sides.into_iter().filter(|(_, share)| *share >= MUCH);
        much.next().filter(|_| much.next().is_none())
    }
}

/// A standstill counts if at least one in this many runs of a side has one. Fewer can't move the estimate far.
const FEW_RUNS: usize = 4;

impl CaseRecord {
    /// The side in whose closed loop the generator stood still for longer, with the share of the run that a quarter
    /// of its runs reach, if that alone would make the other side better by the minimum effect.
    pub fn standstill_side(&self) -> Option<(String, f64)> {
        let (one, other) = self.sides()?;
        let share = |side: &VariantRecord| {
            let of_side = self.runs.iter().filter(|run| run.variant == side.variant);
            let mut shares: Vec<_> =
                of_side.filter_map(|run| run.outcome.generator_stood_share()).collect();
            shares.sort_by(|one, other| other.total_cmp(one));
            let quarter = shares.len().div_ceil(FEW_RUNS);
            shares.get(quarter.saturating_sub(1)).copied().unwrap_or_default()
        };
        let [mut less, mut more] = [one, other].map(|side| (share(side), &side.variant));
        if less.0 > more.0 {
            std::mem::swap(&mut less, &mut more);
        }
        let gain = (1.0 - less.0) / (1.0 - more.0);
        (gain >= 1.0 + self.minimum_effect).then(|| (more.1.clone(), more.0))
    }
}

/// A kind of note, and the share of a run that it is about; `None` if it is not known.
type Share = (fn(Taken) -> NoteKind, fn(&Run) -> Option<f64>);

/// Notes on what others took of the time of runs.
pub(crate) fn taken(runs: &[&Run]) -> Vec<Note> {
    let kinds: [Share; 4] = [
        (NoteKind::Neighbours, |run| run.neighbours?.programs.or(Some(0.0))),
        (NoteKind::Steal, |run| Some(run.neighbours?.stolen)),
        (NoteKind::Throttled, |run| Some(run.neighbours?.throttled)),
        (NoteKind::Standstill, |run| run.outcome.generator_stood_share()),
    ];
    let taken = kinds.into_iter().filter_map(|(kind, share)| {
        let known: Vec<_> = runs.iter().filter_map(|run| share(run)).collect();
        let much = known.iter().copied().filter(|share| *share >= MUCH);
        let most = much.clone().max_by(f64::total_cmp)?;
        Some(kind(Taken { most, least: MUCH, in_runs: much.count(), of_runs: known.len() }).into())
    });
    taken.collect()
}

/// Notes on the conditions of all runs of a case.
pub(super) fn notes(case: &CaseRecord) -> Vec<Note> {
    let runs: Vec<_> = case.runs.iter().chain(&case.open_runs).collect();
    let taken = taken(&runs).into_iter();
    let unmeasured = case.variants.iter().filter_map(|variant| {
        let mut runs = runs.iter().filter(|run| run.variant == variant.variant);
        let why = runs.find_map(|run| Some(why_unmeasured(run)?.to_owned()))?;
        Some(Note::of(&variant.variant, NoteKind::NoCpuTime { why }))
    });
    let unread = case.variants.iter().flat_map(|variant| unread(case, &variant.variant));
    taken.chain(unmeasured).chain(unread).collect()
}

/// Why no process of a run is known to be the server.
fn why_unmeasured(run: &Run) -> Option<&str> {
    run.server.as_ref()?.unmeasured.as_deref()
}

/// Notes on figures that the system doesn't report for a server whose process is known. The tables have CPU time and
/// memory of the closed loop only.
fn unread(case: &CaseRecord, variant: &str) -> impl Iterator<Item = Note> {
    // A benchmark has neither.
    let is_server = case.metric != Metric::Time;
    let of_variant = case.runs.iter().filter(|run| is_server && run.variant == variant);
    let known: Vec<_> = of_variant.filter(|run| why_unmeasured(run).is_none()).collect();
    let of_runs = known.len();
    let without = |figure: fn(&Run) -> bool| known.iter().filter(|run| !figure(run)).count();
    let cpu = without(|run| run.outcome.server_cpu.is_some());
    let memory = without(|run| run.outcome.server_peak_rss_mib.is_some());
    let cpu = (cpu > 0).then_some(NoteKind::InexactCpuTime { runs: cpu, of_runs });
    let memory = (memory > 0).then_some(NoteKind::NoMemory { runs: memory, of_runs });
    cpu.into_iter().chain(memory).map(|kind| Note::of(variant, kind))
}

#[cfg(test)]
mod tests {
    use lab_protocol::Listener;

    use super::*;

    #[test]
    fn a_quota_of_one_side_alone_may_be_the_difference() {
        let record = include_str!("../tests/fixtures/record.json");
        let mut case = serde_json::from_str::<crate::Record>(record).unwrap().cases.remove(0);
        let of = |share| Neighbours {
            programs: Some(0.0),
            stolen: 0.0,
            throttled: share,
            server_throttled: share,
        };
        let [one, other] = case.names().map(str::to_owned);
        let stop = |case: &mut CaseRecord, side: &str, share| {
            let runs = case.runs.iter_mut().chain(&mut case.open_runs);
            runs.filter(|run| run.variant == side).for_each(|run| run.neighbours = Some(of(share)));
        };
        stop(&mut case, &one, 0.0);
        stop(&mut case, &other, 0.36);
        assert_eq!(case.throttled_side(), Some((other, 0.36)));
        stop(&mut case, &one, 0.2);
        assert_eq!(case.throttled_side(), None, "both have one");
    }

    #[test]
    fn a_generator_that_stands_still_in_a_quarter_of_the_runs_of_a_side_may_be_the_difference() {
        let record = include_str!("../tests/fixtures/record.json");
        let mut case = serde_json::from_str::<crate::Record>(record).unwrap().cases.remove(0);
        case.minimum_effect = 0.03;
        let [one, other] = case.names().map(str::to_owned);
        let stop = |case: &mut CaseRecord, side: &str, runs: usize, share: f64| {
            let of_side = case.runs.iter_mut().filter(|run| run.variant == side);
            for (nth, run) in of_side.enumerate() {
                let share = if nth < runs { share } else { 0.0 };
                run.outcome.generator_stood = Some(run.outcome.measured.mul_f64(share));
            }
        };
        let runs = case.runs.iter().filter(|run| run.variant == other).count();
        let quarter = runs.div_ceil(4);
        assert_eq!(case.standstill_side(), None, "not known");
        stop(&mut case, &one, 0, 0.0);
        stop(&mut case, &other, quarter, 0.25);
        let (variant, share) = case.standstill_side().unwrap();
        assert!(variant == other && (share - 0.25).abs() < 1e-6, "{variant} {share}");
        stop(&mut case, &other, quarter - 1, 0.25);
        assert_eq!(case.standstill_side(), None, "a single run");
        stop(&mut case, &other, runs, 0.028);
        assert_eq!(case.standstill_side(), None, "less than the minimum effect");
        stop(&mut case, &one, usize::MAX, 0.25);
        stop(&mut case, &other, runs, 0.26);
        assert_eq!(case.standstill_side(), None, "both alike");
        stop(&mut case, &other, 0, 0.0);
        assert_eq!(case.standstill_side().map(|side| side.0), Some(one), "the baseline");
    }

    #[test]
    fn much_use_by_others_is_a_note_with_its_worst_run() {
        let record = include_str!("../tests/fixtures/record.json");
        let mut case = serde_json::from_str::<crate::Record>(record).unwrap().cases.remove(0);
        assert!(notes(&case).is_empty());
        let quiet = Neighbours {
            programs: Some(0.049),
            stolen: 0.049,
            throttled: 0.049,
            server_throttled: 0.0,
        };
        case.runs.iter_mut().for_each(|run| run.neighbours = Some(quiet));
        assert!(notes(&case).is_empty());
        let address = ([127, 0, 0, 1], 80).into();
        let unmeasured = Some("its process cannot be seen from here".to_owned());
        let server = Listener { address, pid: None, command: None, unmeasured };
        let [one, other, third, ..] = &mut case.runs[..] else { panic!("there are more runs") };
        one.neighbours = Some(Neighbours { programs: Some(0.31), throttled: 0.2, ..quiet });
        other.neighbours = Some(Neighbours { programs: Some(0.05), stolen: 0.05, ..quiet });
        third.server = Some(server);
        let variant = third.variant.clone();
        let taken = |most, in_runs| Taken { most, least: MUCH, in_runs, of_runs: case.runs.len() };
        let why = "its process cannot be seen from here".to_owned();
        let expected = [
            NoteKind::Neighbours(taken(0.31, 2)).into(),
            NoteKind::Steal(taken(0.05, 1)).into(),
            NoteKind::Throttled(taken(0.2, 1)).into(),
            Note::of(&variant, NoteKind::NoCpuTime { why }),
        ];
        assert_eq!(notes(&case), expected);
    }

    #[test]
    fn a_figure_that_the_system_does_not_show_has_a_note_with_its_runs() {
        let record = include_str!("../tests/fixtures/record.json");
        let mut case = serde_json::from_str::<crate::Record>(record).unwrap().cases.remove(0);
        let [one, other] = case.names().map(str::to_owned);
        let runs_of = |case: &CaseRecord, variant: &str| {
            case.runs.iter().filter(|run| run.variant == variant).count()
        };
        let of = |case: &mut CaseRecord, variant: &str, change: fn(&mut Run)| {
            case.runs.iter_mut().filter(|run| run.variant == variant).for_each(change);
        };
        let (ones, others) = (runs_of(&case, &one), runs_of(&case, &other));
        case.runs[0].outcome.server_peak_rss_mib = None;
        let variant = case.runs[0].variant.clone();
        let of_runs = runs_of(&case, &variant);
        assert_eq!(notes(&case), [Note::of(&variant, NoteKind::NoMemory { runs: 1, of_runs })]);

        of(&mut case, &one, |run| run.outcome.server_peak_rss_mib = None);
        of(&mut case, &other, |run| {
            run.outcome.server_cpu = None;
            run.outcome.server_peak_rss_mib = Some(8.0);
        });
        let expected = [
            Note::of(&one, NoteKind::NoMemory { runs: ones, of_runs: ones }),
            Note::of(&other, NoteKind::InexactCpuTime { runs: others, of_runs: others }),
        ];
        assert_eq!(notes(&case), expected);

        let why = "its process cannot be seen from here".to_owned();
        of(&mut case, &one, |run| {
            let address = ([127, 0, 0, 1], 80).into();
            let unmeasured = Some("its process cannot be seen from here".to_owned());
            run.server = Some(Listener { address, pid: None, command: None, unmeasured });
        });
        let [_, inexact] = expected;
        let expected = [Note::of(&one, NoteKind::NoCpuTime { why }), inexact];
        assert_eq!(notes(&case), expected, "one cause has one note");

        case.metric = Metric::Time;
        assert!(!notes(&case).iter().any(|note| crate::code(note).unwrap() == "inexact-cpu-time"));
    }
}
