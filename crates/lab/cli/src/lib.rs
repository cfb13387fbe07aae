//! The binary `lab`: it starts the servers of a case, puts load on them and compares them.
//!
//! Each verb is one file of `cmd/`. `servers/` runs servers as child processes, `bench/` compares
//! them, `count/` counts what a visit costs, `watch/` records profiles, and `triage/` says what ails one.
//!
//! `lab` depends on no code of a case. It uses the case file, the line `listening on
//! http://127.0.0.1:PORT`, and HTTP, so a case could be any service.

mod cmd;

pub use cmd::run;
