//! The record of a comparison: what `lab bench --json` prints, and what the store keeps.

mod case;
mod case_name;
mod judge;
mod latencies;
mod request_record;
mod requests;
mod run;
mod variant;

use lab_system::{Build, Machine, own_command};
use serde::{Deserialize, Serialize};

pub use case::{CaseRecord, Control};
pub use case_name::CaseName;
pub use latencies::{Latencies, OpenLoopRecord};
pub use request_record::RequestRecord;
pub use requests::RequestCounts;
pub use run::Run;
pub use variant::VariantRecord;

/// The version of the record's form. It changes when an older record can no longer be read.
pub const VERSION: u32 = 4;

/// The record of one call of `lab bench` or `lab compare`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Record {
    pub version: u32,
    pub created: jiff::Timestamp,
    pub command: Vec<String>,
    /// Whether it was made with `--quick`.
    pub quick: bool,
    pub machine: Machine,
    pub build: Build,
    pub cases: Vec<CaseRecord>,
}

impl Record {
    /// Whether the record is from `lab compare`.
    pub fn is_of_own_servers(&self) -> bool {
        self.command.get(1).is_some_and(|verb| verb == "compare")
    }

    /// A record of this process, made now and here, without cases yet.
    pub fn new(quick: bool, build: Build) -> Self {
        Self {
            version: VERSION,
            created: jiff::Timestamp::now(),
            command: own_command(),
            quick,
            machine: Machine::here(),
            build,
            cases: Vec::new(),
        }
    }
}
