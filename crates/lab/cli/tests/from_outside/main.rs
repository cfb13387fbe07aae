//! The binary `lab` from outside, with stand-ins as servers.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bench;
mod bench_generator;
mod compare;
mod count;
mod docs;
mod doctor;
mod flame;
mod record;
mod records;
mod toy;
mod verbs;
