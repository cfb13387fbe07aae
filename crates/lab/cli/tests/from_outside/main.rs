//! The binary `lab` from outside, with stand-ins as servers.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_macros, clippy::unwrap_used, reason = "a test may panic")]

mod exercises;
mod hostile;
mod toy;
mod verbs;
mod workspace;
