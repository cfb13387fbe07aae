//! The binary `lab` from outside, with stand-ins as servers.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_macros, clippy::unwrap_used, reason = "a test may panic")]

mod as_checked_out;
mod bench;
mod compare;
mod cut_short;
mod engine;
mod exercises;
mod flame;
mod limits;
mod malicious;
mod packages;
mod places;
mod practice;
mod pull_request;
mod reach;
mod records;
mod revisions;
mod right_server;
mod shop;
mod slow;
mod supervisor;
mod toy;
mod triage;
mod verbs;
