//! Notices when this process stood still: stopped by a signal, frozen with its container, or waiting for a disk.
//!
//! A stopped generator sends nothing and reads nothing, and the server seems slow. Being busy is no standstill, and
//! waiting for a core isn't either: both have figures of their own.

use std::{cell::Cell, rc::Rc, time::Duration};

use lab_system::process::{own_cpu_time, own_wait};
use tokio::{
    task::{AbortHandle, spawn_local},
    time::{Instant, sleep},
};

const BEAT: Duration = Duration::from_millis(50);
/// The shortest standstill that counts. Shorter ones may be pages that were read from a disk.
const LEAST: Duration = Duration::from_millis(100);

/// Beats until it is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    /// The sum up to the last beat, and that beat.
    stood: Rc<Cell<(Duration, Beat)>>,
    beats: AbortHandle,
}

/// The system's figures at the last beat.
#[derive(Clone, Copy, Debug)]
struct Beat {
    at: Instant,
    ran: Duration,
    waited: Duration,
}

impl Heartbeat {
    /// `None` if the system does not say how long a process waits for a core.
    pub fn start() -> Option<Self> {
        let stood = Rc::new(Cell::new((Duration::ZERO, Beat::now()?)));
        let sum = stood.clone();
        let beats = spawn_local(async move {
            loop {
                sleep(BEAT).await;
                let Some(now) = Beat::now() else { return };
                sum.set((until(sum.get(), &now), now));
            }
        });
        Some(Self { stood, beats: beats.abort_handle() })
    }

    /// How long it stood still so far. After a standstill, this may be asked before the next beat.
    pub fn stood(&self) -> Duration {
        let so_far = self.stood.get();
        Beat::now().map_or(so_far.0, |now| until(so_far, &now))
    }
}

fn until((sum, last): (Duration, Beat), now: &Beat) -> Duration {
    sum + now.stood_since(&last)
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.beats.abort();
    }
}

impl Beat {
    fn now() -> Option<Self> {
        Some(Self { at: Instant::now(), ran: own_cpu_time()?, waited: own_wait()? })
    }

    /// How long this process neither ran nor waited for a core nor slept, if that is long enough.
    fn stood_since(&self, last: &Self) -> Duration {
        let awake = (self.ran + self.waited).saturating_sub(last.ran + last.waited);
        let stood = (self.at - last.at).saturating_sub(BEAT + awake);
        if stood < LEAST { Duration::ZERO } else { stood }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_without_work_and_without_a_wait_for_a_core_is_a_standstill() {
        let ms = Duration::from_millis;
        let last = Beat { at: Instant::now(), ran: ms(1), waited: ms(1) };
        // Milliseconds: of the gap without the beat's own sleep, of work in it, of waiting for a core.
        let stood = |gap, ran: u64, waited: u64| {
            let now =
                Beat { at: last.at + BEAT + ms(gap), ran: ms(1 + ran), waited: ms(1 + waited) };
            now.stood_since(&last)
        };
        assert_eq!(stood(0, 1, 1), ms(0));
        assert_eq!(stood(99, 0, 0), ms(0), "a hiccup");
        assert_eq!(stood(450, 0, 0), ms(450));
        assert_eq!(stood(450, 10, 10), ms(430));
        assert_eq!(stood(450, 450, 0), ms(0), "busy");
        assert_eq!(stood(450, 0, 400), ms(0), "without a core");
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_goes_on_alone_is_a_standstill() {
        let work = async {
            let Some(heartbeat) = Heartbeat::start() else { return };
            for _ in 0..20 {
                sleep(BEAT).await;
            }
            assert_eq!(heartbeat.stood(), Duration::ZERO);
            tokio::time::advance(Duration::from_secs(60)).await;
            assert!(heartbeat.stood() > Duration::from_secs(30), "{:?}", heartbeat.stood());
        };
        tokio::task::LocalSet::new().run_until(work).await;
    }
}
