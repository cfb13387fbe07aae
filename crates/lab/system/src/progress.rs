//! What is being done, on standard error.

use std::{
    cell::Cell,
    io::{IsTerminal as _, Write as _, stderr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::err;

/// Moves to the begin of a terminal's line, and clears it.
const CLEAR: &str = "\r\x1b[2K";
/// Columns of a line.
const WIDTH: usize = 76;

/// A line that each step overwrites; without a terminal, a line for each thing that is measured.
#[derive(Debug)]
pub struct Progress {
    name: String,
    /// The planned time of the steps that have not begun.
    left: Cell<Duration>,
}

/// The last line that stayed: without a terminal, the same isn't said twice in a row.
static SAID: Mutex<String> = Mutex::new(String::new());

impl Progress {
    /// Steps of one thing, of unknown length.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), left: Cell::default() }
    }

    /// Runs that take so long together.
    pub fn planned(time: Duration) -> Self {
        Self { name: String::new(), left: time.into() }
    }

    pub fn step(&self, what: &str) {
        let line = format!("{}: {what}", self.name);
        self.show(&line, &line);
    }

    /// The next run of a thing begins, for which so much time is planned.
    pub fn run(&self, what: &str, which: &str, planned: Duration) {
        let left = self.left.get().as_millis().div_ceil(1000);
        self.left.set(self.left.get().saturating_sub(planned));
        let line =
            format!("{:<56} {}:{:02} left", format!("{what}  {which}"), left / 60, left % 60);
        self.show(&line, &format!("measuring {what}"));
    }

    /// `what` goes on for so long, and nobody knows when it ends.
    pub fn waiting(&self, what: &str, time: Duration) {
        let seconds = time.as_secs();
        let line = format!("{what:<56} {}:{:02}", seconds / 60, seconds % 60);
        self.show(&line, &self.name);
    }

    /// Prints what stays.
    pub fn aside(&self, print: impl FnOnce()) {
        self.clear();
        print();
    }

    /// Prints a line that stays.
    pub fn note(&self, line: &str) {
        self.aside(|| err!("{line}"));
    }

    fn show(&self, line: &str, plain: &str) {
        if stderr().is_terminal() {
            let _ = write!(stderr(), "{CLEAR}  {}", cut(line));
            return;
        }
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if *said != plain {
            plain.clone_into(&mut said);
            err!("{plain}");
        }
    }

    fn clear(&self) {
        if stderr().is_terminal() {
            let _ = write!(stderr(), "{CLEAR}");
        }
    }
}

/// At most as long as a narrow terminal is wide.
fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some(_) => line.chars().take(WIDTH - 1).chain(['…']).collect(),
        None => line.to_owned(),
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
