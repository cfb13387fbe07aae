//! Servers as child processes: how they are built, started, found, asked and stopped.

#![warn(clippy::missing_errors_doc)]

mod announcement;
mod artifact;
mod as_cargo_runs;
mod build_profile;
mod cargo;
mod cargo_settings;
mod changed_files;
mod checkout;
pub mod current;
mod decoded;
mod git;
mod har;
mod history;
mod ingredients;
pub mod instrumented;
mod kept;
mod launch;
mod learn;
mod listening_process;
mod loaded_program;
pub mod lock_file;
mod lock_history;
mod output;
mod panic;
mod preload;
mod reach;
mod request_file;
mod requests;
mod revisions;
mod running;
mod scratch;
mod search;
mod seed;
mod server;
mod shell;
mod side;
mod sources;
mod subject;
mod supervisor;
mod with_bar;

pub use artifact::Artifact;
pub use cargo::build_servers;
pub use history::History;
pub use launch::{Address, Launch};
pub use learn::{BaselineAnswers, learn_answers};
pub use requests::{Compare, RequestOptions, answers};
pub use revisions::{Built, Revisions};
pub use running::Running;
pub use scratch::Scratch;
pub use server::Server;
pub use subject::Subject;
