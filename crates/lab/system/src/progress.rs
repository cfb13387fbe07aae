//! Shows on standard error what is being done.

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
/// Characters of a bar.
const BAR: usize = 20;

/// A line that each step overwrites; without a terminal, a line for each thing that is measured.
#[derive(Debug)]
pub struct Progress {
    name: String,
    /// The planned time of all steps.
    planned: Duration,
    /// The time of the steps that have not begun.
    left: Cell<Duration>,
}

/// The last line that stayed: without a terminal, the same isn't said twice in a row.
static SAID: Mutex<String> = Mutex::new(String::new());

impl Progress {
    /// Steps of one thing, of unknown length.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), planned: Duration::ZERO, left: Cell::default() }
    }

    /// Runs that take so long together.
    pub fn planned(time: Duration) -> Self {
        Self { name: String::new(), planned: time, left: time.into() }
    }

    pub fn step(&self, what: &str) {
        let line = format!("{}: {what}", self.name);
        self.show(&line, &line);
    }

    /// Like [`Self::step`], for steps that only a terminal shows.
    pub fn running(&self, what: &str) {
        self.show(&format!("{}: {what}", self.name), &format!("measuring {}", self.name));
    }

    /// The next run of a thing begins, for which so much time is planned.
    pub fn run(&self, what: &str, which: &str, planned: Duration) {
        let left = self.left.get();
        self.left.set(left.saturating_sub(planned));
        let done = 1.0 - left.as_secs_f64() / self.planned.as_secs_f64();
        let line = format!("{} {} left  {what}  {which}", bar(done), clock(left));
        self.show(&line, &format!("measuring {what}"));
    }

    /// Shows that `done` of `total` parts are done after `time`. `begun` parts were done before the start.
    pub fn parts(&self, [begun, done, total]: [usize; 3], parts: &str, time: Duration) {
        let share = done as f64 / total.max(1) as f64;
        // The first parts say nothing yet about the rest.
        let left = if done > begun + total / 50 && done < total {
            let left = time.mul_f64((total - done) as f64 / (done - begun) as f64);
            format!("  about {} left", clock(left))
        } else {
            String::new()
        };
        self.show(
            &format!("{} {}: {done} of {total} {parts}{left}", bar(share), self.name),
            &self.name,
        );
    }

    /// This share of a search is done, and the rest takes about so long.
    pub fn about(&self, share: f64, which: &str, left: Duration) {
        let line = format!("{} about {} left  {}  {which}", bar(share), clock(left), self.name);
        self.show(&line, &format!("measuring {}", self.name));
    }

    /// A thing is measured until enough is known, and at most so much longer. `share`: of the limit.
    pub fn until(&self, share: f64, left: Duration, what: &str, which: &str) {
        let line = format!("{} {} to the limit  {what}  {which}", bar(share), clock(left));
        self.show(&line, &format!("measuring {what}"));
    }

    /// What a look at unfinished measurements shows: on a terminal, the next line has it.
    pub fn looked(&self, found: &str) {
        if !stderr().is_terminal() {
            err!("  {found}");
        }
    }

    /// `what` goes on for so long, and nobody knows when it ends.
    pub fn waiting(&self, what: &str, time: Duration) {
        self.show(&format!("{what:<56} {}", clock(time)), &self.name);
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

/// A bar of which this share is done.
fn bar(share: f64) -> String {
    let done = (share.clamp(0.0, 1.0) * BAR as f64) as usize;
    format!("[{}{}]", "=".repeat(done), " ".repeat(BAR - done))
}

/// Minutes and seconds, rounded up.
fn clock(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1000);
    format!("{}:{:02}", seconds / 60, seconds % 60)
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
