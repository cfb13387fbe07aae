//! `lab doctor`: what distorts figures on this machine, and how to fix it.

use std::process::ExitCode;

use lab_display::out;
use lab_system::{System, doctor};

pub fn run() -> ExitCode {
    let term = console::Term::stdout();
    let width = term.size_checked().map_or(80, |(_, columns)| usize::from(columns));
    out!("{}", doctor::examine(&System::this(), width));
    ExitCode::SUCCESS
}
