//! Servers as child processes: how they are built, started, found, asked and stopped.

mod announcement;
mod behind;
mod cargo;
pub mod current;
mod decoded;
pub mod instrumented;
mod launch;
mod learn;
mod output;
mod panic;
mod preload;
mod requests;
mod revisions;
mod running;
mod scratch;
mod search;
mod server;
mod shell;
mod subject;
mod with_bar;

pub use cargo::build_servers;
pub use launch::{Address, Launch};
pub use learn::learn_answers;
pub use requests::{Compare, Requests, answers};
pub use revisions::{Artifact, Built, Revisions};
pub use running::Running;
pub use scratch::Scratch;
pub use server::Server;
pub use subject::Subject;
