//! A downstream that answers after a wait, to the tenth of a millisecond.
//!
//! Tokio's own timer counts in whole milliseconds: a `sleep` of a tenth of one lasts more than one,
//! and so does a `sleep` of nothing. Answers from another service know no such step. So a thread of
//! its own gives them here, and a wait of nothing is none.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

/// When an answer is due, and who waits for it.
type Question = (Instant, oneshot::Sender<()>);

/// What a handler waits for. Any number of questions may be open at once.
#[derive(Debug)]
pub struct Downstream {
    wait: Duration,
    questions: mpsc::Sender<Question>,
}

impl Downstream {
    /// Answers every question `wait` after it was asked. Linux wakes a sleeping thread up some 60 µs
    /// late, and so a wait is that much longer.
    pub fn new(wait: Duration) -> Self {
        let (questions, asked) = mpsc::channel::<Question>();
        // All waits are equally long: who has asked first is answered first. The thread ends when
        // nobody can ask any more.
        thread::spawn(move || {
            for (due, answer) in asked {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                // Who has gone away needs no answer.
                let _ = answer.send(());
            }
        });
        Self { wait, questions }
    }

    /// Returns when the answer is there.
    ///
    /// # Panics
    ///
    /// If the thread that answers has died.
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
