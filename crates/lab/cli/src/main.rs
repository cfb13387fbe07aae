//! The binary `lab`: it starts the servers of a case, puts load on them and compares them.
//!
//! Each verb is one file of `cmd/`. The crates below do the work: `lab-servers` runs servers as child
//! processes, `lab-measure` compares, counts and watches them, and `lab-triage` says what limits one.
//!
//! `lab` depends on no code of a case. It uses the case file, the line `listening on
//! http://127.0.0.1:PORT`, and HTTP, so a case could be any service.

mod cmd;

fn main() -> std::process::ExitCode {
    cmd::run()
}
