//! A downstream that answers after a wait, exact to a tenth of a millisecond.
//!
//! Tokio's timer counts in whole milliseconds: a `sleep` of 0.1 ms lasts more than 1 ms, and so does a
//! `sleep` of zero. A real downstream has no such steps. So a separate thread gives the answers here.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

/// When the answer is due, and where to send it.
type Question = (Instant, oneshot::Sender<()>);

/// What a handler waits for. Any number of questions may be open at once.
#[derive(Debug)]
pub struct Downstream {
    wait: Duration,
    questions: mpsc::Sender<Question>,
}

impl Downstream {
    /// Answers every question after `wait`. Linux wakes a sleeping thread about 60 µs late, so a wait is
    /// that much longer.
    pub fn new(wait: Duration) -> Self {
        let (questions, asked) = mpsc::channel::<Question>();
        // All waits are equally long, so questions are answered in their order. The thread ends when the
        // sender is dropped.
        thread::spawn(move || {
            for (due, answer) in asked {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                // A caller that is gone needs no answer.
                let _ = answer.send(());
            }
        });
        Self { wait, questions }
    }

    /// Waits for an answer; with a wait of zero, returns at once.
    pub async fn answer(&self) {
        if self.wait.is_zero() {
            return;
        }
        let (answer, answered) = oneshot::channel();
        let asked = self.questions.send((Instant::now() + self.wait, answer));
        asked.expect("the downstream runs");
        answered.await.expect("the downstream answers");
    }
}
