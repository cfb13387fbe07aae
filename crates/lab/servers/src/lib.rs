//! Servers as child processes: how they are built, started, found, asked and stopped.

mod announcement;
mod artifact;
mod as_cargo_runs;
mod behind;
mod cargo;
mod checkout;
pub mod current;
mod git;
pub mod instrumented;
mod kept;
mod launch;
mod output;
mod panic;
mod requests;
mod revisions;
mod running;
mod scratch;
mod search;
mod seed;
mod server;
mod side;
mod sources;
mod subject;
mod with_bar;

pub use artifact::Artifact;
pub use cargo::build_servers;
pub use launch::{Address, Launch};
pub use requests::{Compare, Requests, answers, learn_answers};
pub use revisions::{Built, Revisions};
pub use running::Running;
pub use scratch::Scratch;
pub use server::Server;
pub use subject::Subject;
