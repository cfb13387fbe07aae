//! A line about the current step, and how long it has taken.

use std::{io::IsTerminal as _, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};

/// A line on standard error that each step overwrites; without a terminal, a line for each step.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    name: String,
}

impl Progress {
    pub fn new(name: &str) -> Self {
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("  {spinner} {msg}  {elapsed}");
        bar.set_style(style.expect("the template is valid"));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, name: name.to_owned() }
    }

    pub fn step(&self, what: &str) {
        let step = format!("{}: {what}", self.name);
        if !std::io::stderr().is_terminal() {
            eprintln!("{step}");
        }
        self.bar.set_message(step);
    }

    /// Prints a line that stays.
    pub fn note(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
