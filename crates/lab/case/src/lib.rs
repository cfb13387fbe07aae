//! What a case's directory says, and where the directories are.
//!
//! [`Workspace`] finds the cases, their binaries and the results. [`Case`] is a `case.toml`,
//! [`Reference`] a `counts.toml`. Nothing here starts a server.

mod case;
mod counts;
mod exhibit;
mod nearest;
mod overrides;
mod request;
mod workspace;

pub use case::{BASELINE, CANDIDATE, Case, Companion, Promise, Sweep};
pub use counts::Reference;
pub use exhibit::{Exhibit, Role, SpanKind, usual};
pub use nearest::unknown;
pub use overrides::Overrides;
pub use request::Request;
pub use workspace::{Workspace, find_bin_dir, lab_itself};
