//! Servers as child processes: how they are started, found, asked and stopped.

pub mod affinity;
pub mod current;
pub mod instrumented;
mod launch;
mod requests;
mod revisions;
mod scratch;
mod server;

pub use launch::{Address, Launch};
pub use requests::{Requests, learn_answers};
pub use revisions::Revisions;
pub use scratch::Scratch;
pub use server::{Server, Stage, Tail, free_port};
