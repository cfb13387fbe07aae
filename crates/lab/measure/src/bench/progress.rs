//! The progress of the runs, and the time that is left.

use std::{io::IsTerminal as _, time::Duration};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// A progress bar on standard error that counts planned time; one line for each thing that is
/// measured if standard error is not a terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// The planned time of all steps that have begun.
    begun: std::cell::Cell<Duration>,
    said: std::cell::RefCell<String>,
    ticker: tokio::task::JoinHandle<()>,
}

const TICK: Duration = Duration::from_millis(200);

impl Progress {
    /// Needs a Tokio runtime.
    pub fn new(planned: Duration) -> Self {
        let bar = ProgressBar::new(planned.as_millis() as u64);
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
                // A step that takes longer than planned does not take time from the next.
                if !ticking.is_finished() {
                    ticking.inc(TICK.as_millis() as u64);
                }
            }
        });
        Self { bar, begun: Duration::ZERO.into(), said: String::new().into(), ticker }
    }

    /// The next step begins, such as a run of a case, for which so much time is planned.
    pub fn step(&self, what: &str, which: &str, planned: Duration) {
        self.bar.set_position(self.begun.get().as_millis() as u64);
        self.begun.set(self.begun.get() + planned);
        self.bar.set_message(format!("{what}  {which}"));
        if !std::io::stderr().is_terminal() && self.said.replace(what.to_owned()) != what {
            eprintln!("measuring {what}");
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
