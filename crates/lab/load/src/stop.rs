//! Ends an open loop before its time, when a condition of its plan is met.

use std::{cell::RefCell, future::pending, rc::Rc};

use lab_model::StopWhen;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::arrival_queue::ArrivalQueue;

/// Watches for the conditions of a plan.
#[derive(Debug)]
pub struct StopWatch {
    when: StopWhen,
    queue: Rc<RefCell<ArrivalQueue>>,
    /// A wrong answer has come.
    pub wrong: Rc<Notify>,
}

impl StopWatch {
    pub fn new(when: Option<StopWhen>, queue: Rc<RefCell<ArrivalQueue>>) -> Self {
        Self { when: when.unwrap_or_default(), queue, wrong: Rc::default() }
    }

    /// Waits for this moment. Returns true at once if a condition is met before.
    pub async fn stops_before(&self, moment: Instant) -> bool {
        tokio::select! {
            biased;
            () = self.is_behind() => true,
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

    /// Sleeps until the oldest arrival would be too old, and looks whether it is still there.
    async fn is_behind(&self) {
        let Some(behind) = self.when.behind else { return pending().await };
        loop {
            let now = Instant::now();
            let oldest = self.queue.borrow().oldest();
            let too_old = oldest.unwrap_or(now) + behind;
            if too_old <= now {
                return;
            }
            sleep_until(too_old).await;
        }
    }
}
