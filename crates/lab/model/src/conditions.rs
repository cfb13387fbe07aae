//! Under which conditions a run was made: where its server was found, and who else used the processors.

use std::{fmt, net::SocketAddr};

use lab_display::{percent, plural};
use serde::{Deserialize, Serialize};

use super::CaseRecord;

/// Where a server was reached that did not announce it, and which process is there.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Listener {
    pub address: SocketAddr,
    /// The process that listens there; of several the first. `None` if it cannot be seen.
    pub pid: Option<u32>,
    /// Its command line.
    pub command: Option<String>,
    /// Why nothing is known about the CPU time of the server, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<String>,
}

/// How much of a command line is shown.
const SHOWN: usize = 80;

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)?;
        if let Some(pid) = self.pid {
            write!(f, ", process {pid}")?;
        }
        if let Some(command) = &self.command {
            let rest = if command.chars().count() > SHOWN { "…" } else { "" };
            write!(f, ": {}{rest}", command.chars().take(SHOWN).collect::<String>())?;
        }
        Ok(())
    }
}

/// Who else used the processors while a run was made, from the start of its load to its end. Shares of the
/// time of all processors of the machine, from 0 to 1.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Neighbours {
    /// What programs used that are neither server nor companion nor load generator, nor `lab` itself;
    /// `None` if the CPU time of the server is not known.
    pub programs: Option<f64>,
    /// What the host gave to other virtual machines, although this one had work.
    pub stolen: f64,
    /// How long a CPU quota stopped programs of the control group of `lab`, although they had work.
    pub throttled: f64,
}

/// From this share on, each of them is worth a note.
const MUCH: f64 = 0.05;

impl Neighbours {
    /// Each of the shares, what it is, and what to do about it.
    fn shares(&self) -> [(f64, &'static str, &'static str); 3] {
        [
            (self.programs.unwrap_or_default(), "other programs used", "end them"),
            (self.stolen, "the host took (steal)", "use a quieter machine"),
            (self.throttled, "a CPU quota took (throttling)", "raise the quota"),
        ]
    }
}

/// Notes on the conditions of all runs of a case.
pub(super) fn notes(case: &CaseRecord) -> Vec<String> {
    let runs: Vec<_> = case.runs.iter().chain(&case.open_runs).collect();
    let neighbours: Vec<_> = runs.iter().filter_map(|run| Some(run.neighbours?.shares())).collect();
    let mut notes = Vec::new();
    for kind in 0..3 {
        let much: Vec<_> =
            neighbours.iter().map(|it| it[kind]).filter(|(share, ..)| *share >= MUCH).collect();
        let Some((most, who, fix)) = much.iter().max_by(|one, other| one.0.total_cmp(&other.0))
        else {
            continue;
        };
        notes.push(format!(
            "{who} up to {} of this machine's CPU time during a run, and at least {} in {} of {}: {fix}",
            percent(*most),
            percent(MUCH),
            much.len(),
            plural(neighbours.len(), "run")
        ));
    }
    for variant in &case.variants {
        let mut runs = runs.iter().filter(|run| run.variant == variant.variant);
        if let Some(why) = runs.find_map(|run| run.server.as_ref()?.unmeasured.as_ref()) {
            notes.push(format!("{}: no CPU time: {why}", variant.variant));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_shown_in_a_line() {
        let command = Some(format!("java {}", "x".repeat(200)));
        let address = ([127, 0, 0, 1], 80).into();
        let shown = Listener { address, pid: Some(7), command, unmeasured: None }.to_string();
        assert!(shown.starts_with("127.0.0.1:80, process 7: java xxx"), "{shown}");
        assert!(shown.ends_with("xx…") && shown.chars().count() < 120, "{shown}");
    }

    #[test]
    fn much_use_by_others_is_a_note_with_its_worst_run() {
        let record = include_str!("../../course/tests/fixtures/record.json");
        let mut case = serde_json::from_str::<crate::Record>(record).unwrap().cases.remove(0);
        assert_eq!(notes(&case), [""; 0]);
        let quiet = Neighbours { programs: Some(0.049), stolen: 0.0, throttled: 0.0 };
        case.runs.iter_mut().for_each(|run| run.neighbours = Some(quiet));
        assert_eq!(notes(&case), [""; 0]);
        let address = ([127, 0, 0, 1], 80).into();
        let unmeasured = Some("its process cannot be seen from here".to_owned());
        let server = Listener { address, pid: None, command: None, unmeasured };
        let [one, other, third, ..] = &mut case.runs[..] else { panic!("there are more runs") };
        one.neighbours = Some(Neighbours { programs: Some(0.31), throttled: 0.2, ..quiet });
        other.neighbours = Some(Neighbours { programs: Some(0.07), ..quiet });
        third.server = Some(server);
        let notes = notes(&case);
        let runs = case.runs.len();
        let used = format!(
            "other programs used up to 31 % of this machine's CPU time during a run, and at least \
             5.0 % in 2 of {runs} runs: end them"
        );
        assert_eq!(notes[0], used);
        assert!(notes[1].starts_with("a CPU quota took (throttling) up to 20 %"), "{notes:?}");
        assert!(notes[2].ends_with(": no CPU time: its process cannot be seen from here"));
        assert_eq!(notes.len(), 3, "{notes:?}");
    }
}
