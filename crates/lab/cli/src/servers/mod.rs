//! Servers as child processes: how they are started, found, asked and stopped.

pub mod affinity;
pub mod instrumented;
pub mod launch;
pub mod requests;
pub mod revisions;
pub mod server;
