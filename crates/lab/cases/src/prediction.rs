//! A reader's prediction before a measurement: a suspect and a factor.

use std::collections::BTreeMap;

use lab_protocol::Metric;
use serde::Deserialize;

use crate::{Case, unknown};

/// A kind of fault to choose from.
#[derive(Debug)]
pub struct SuspectKind {
    pub name: &'static str,
    pub words: &'static str,
    /// The figure that shows this suspect. It finishes the sentence `this shows in`.
    pub shown_by: &'static str,
}

/// The list is the same for all cases, so it gives none away.
pub const SUSPECTS: [SuspectKind; 8] = [
    SuspectKind {
        name: "lock",
        words: "requests wait for a lock that another one holds",
        shown_by: "the timeline of `just flame`: one request at a time goes on, the others wait for \
                   what it holds, and the CPU is idle",
    },
    SuspectKind {
        name: "allocation",
        words: "memory is allocated or copied again and again",
        shown_by: "`just count`, as allocations or bytes for each item of the work; and in the flame \
                   graph, as wide boxes that allocate, free or copy",
    },
    SuspectKind {
        name: "connection",
        words: "connections, clients or sessions are set up again and again",
        shown_by: "`just count`, as connections or handshakes for each request; and in the flame \
                   graph, as wide boxes that connect or load certificates",
    },
    SuspectKind {
        name: "parsing",
        words: "the same data is parsed or serialized more than once",
        shown_by: "the flame graph: wide boxes that parse or serialize, at two places for the same data",
    },
    SuspectKind {
        name: "computing",
        words: "the same result is computed again and again",
        shown_by: "the flame graph: a wide box whose result is the same for every request",
    },
    SuspectKind {
        name: "blocking",
        words: "a task keeps its worker thread from the other tasks",
        shown_by: "the threads of `just flame`: a worker runs or blocks for milliseconds, and a cheap \
                   route is late meanwhile",
    },
    SuspectKind {
        name: "waiting",
        words: "a database, another server or a disk is slow, or asked too often",
        shown_by: "the timeline of `just flame`, as one long wait or as many in a row; and in `just \
                   count`, as many statements or calls for each request",
    },
    SuspectKind {
        name: "network",
        words: "the server has written its answer, and TCP or the network holds it back",
        shown_by: "two clocks: in the timeline of `just flame`, the server is done with a request long \
                   before the client has its answer; and in `just count`, as writes that are held back",
    },
];

/// The `[predict]` of a case file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prediction {
    /// The metric of the predicted factor, if it isn't the metric that decides.
    pub metric: Option<Metric>,
    /// Kinds of faults that this isn't, each with what would have shown it here; the others have the sentence of their
    /// kind.
    pub wrong: BTreeMap<String, String>,
}

impl Case {
    /// The metric of the predicted factor.
    pub fn predicted_metric(&self) -> Metric {
        self.predict.metric.unwrap_or(self.decides)
    }

    /// The suspect that a reader typed: the name of a kind of fault.
    ///
    /// # Errors
    ///
    /// If it's none of them; the message suggests the nearest.
    pub fn suspect(&self, typed: &str) -> anyhow::Result<String> {
        let known = SUSPECTS.iter().map(|kind| kind.name);
        let same = |name: &&str| name.eq_ignore_ascii_case(typed.trim());
        let found = known.clone().find(same).map(str::to_owned);
        found.ok_or_else(|| unknown("suspect", typed.trim(), known))
    }

    /// The figure that shows `suspect`, whether the suspect is right or wrong.
    pub fn shown_by(&self, suspect: &str) -> Option<&str> {
        let here = self.predict.wrong.get(suspect).map(String::as_str);
        let of_kind =
            || SUSPECTS.iter().find(|kind| kind.name == suspect).map(|kind| kind.shown_by);
        here.or_else(of_kind)
    }

    /// Whether this suspect is the fault.
    pub fn is_fault(&self, suspect: &str) -> bool {
        self.check.iter().flat_map(|check| &check.suspects).any(|right| right == suspect)
    }
}
