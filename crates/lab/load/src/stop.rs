//! Ends an open loop before its time, when the condition of its plan is met.

use std::{future::pending, rc::Rc};

use lab_protocol::StopWhen;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// Watches for the condition of a plan.
#[derive(Debug)]
pub struct StopWatch {
    when: StopWhen,
    /// A wrong answer has come.
    pub wrong: Rc<Notify>,
}

impl StopWatch {
    pub fn new(when: Option<StopWhen>) -> Self {
        Self { when: when.unwrap_or_default(), wrong: Rc::default() }
    }

    /// Waits for this moment. Returns true at once if the condition is met before.
    pub async fn stops_before(&self, moment: Instant) -> bool {
        tokio::select! {
            biased;
            () = self.is_wrong() => true,
            () = sleep_until(moment) => false,
        }
    }

    async fn is_wrong(&self) {
        if !self.when.wrong {
            return pending().await;
        }
        self.wrong.notified().await;
    }
}
