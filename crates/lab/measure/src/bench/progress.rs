//! The progress of the runs, and the time that is left.

use std::{io::IsTerminal as _, time::Duration};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::Effort;

/// A progress bar on standard error that counts planned time; one line per case if standard error is
/// not a terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    runs: std::cell::Cell<u64>,
    said: std::cell::RefCell<String>,
    ticker: tokio::task::JoinHandle<()>,
}

const TICK: Duration = Duration::from_millis(200);

impl Progress {
    /// Needs a Tokio runtime.
    pub fn new(runs: usize, effort: Effort) -> Self {
        let bar = ProgressBar::new((effort.run() * runs as u32).as_millis() as u64);
        let style = ProgressStyle::with_template("  {msg:<46!} {bar:20} {left:>9}")
            .expect("the template is valid")
            .progress_chars("━━╌")
            .with_key("left", |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                let ms = state.len().unwrap_or_default().saturating_sub(state.pos());
                let seconds = ms.div_ceil(1000);
                let _ = write!(text, "{}:{:02} left", seconds / 60, seconds % 60);
            });
        bar.set_style(style);
        let ticking = bar.clone();
        let ticker = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(TICK);
            loop {
                ticks.tick().await;
                // A run that takes longer than planned does not take time from the next.
                if !ticking.is_finished() {
                    ticking.inc(TICK.as_millis() as u64);
                }
            }
        });
        Self { bar, runs: 0.into(), said: String::new().into(), ticker }
    }

    /// The next run of a case begins; `which` one is shown.
    pub fn run(&self, case: &str, which: &str, effort: Effort) {
        let run = self.runs.get();
        self.runs.set(run + 1);
        self.bar.set_position(effort.run().as_millis() as u64 * run);
        self.bar.set_message(format!("{case}  {which}"));
        if !std::io::stderr().is_terminal() && self.said.replace(case.to_owned()) != case {
            eprintln!("measuring {case}");
        }
    }

    /// Hides the bar while `print` runs.
    pub fn aside(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.ticker.abort();
        self.bar.finish_and_clear();
    }
}
