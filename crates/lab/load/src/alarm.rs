//! Waiting for a moment, as exactly as the system allows without burning a core.
//!
//! Tokio's timer ticks in milliseconds, which is as long as many answers take. The usual remedy, to
//! sleep up to the last tick and to spin from there, keeps a whole core busy from 1,000 arrivals a
//! second on, and on a small machine the server goes without it. Linux has a timer that ticks in
//! nanoseconds and wakes the very `epoll` that Tokio sleeps in; it is some 50 us late and costs two
//! system calls. Only what is shorter than that is spun away.

use std::{io, time::Duration};

use tokio::time::{Instant, sleep_until};

/// Waits that are not worth a timer: setting one takes as long.
#[cfg(target_os = "linux")]
const SPUN: Duration = Duration::from_micros(20);

/// A way to wait.
#[derive(Debug)]
pub enum Alarm {
    /// Tokio's own timer: up to 2 ms late, and exact under a paused clock.
    Ticks,
    /// A timer of the kernel.
    #[cfg(target_os = "linux")]
    Precise(timer::Timer),
}

impl Alarm {
    /// The most exact way that the system has.
    pub fn precise() -> Self {
        #[cfg(target_os = "linux")]
        if let Ok(timer) = timer::Timer::new() {
            return Self::Precise(timer);
        }
        Self::Ticks
    }

    /// Waits until `moment`; a moment that has passed is not waited for at all.
    pub async fn wait_until(&mut self, moment: Instant) -> io::Result<()> {
        loop {
            let left = moment.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                return Ok(());
            }
            match self {
                Self::Ticks => sleep_until(moment).await,
                #[cfg(target_os = "linux")]
                Self::Precise(_) if left < SPUN => tokio::task::yield_now().await,
                #[cfg(target_os = "linux")]
                Self::Precise(timer) => timer.ring_after(left).await?,
            }
        }
    }
}

/// The kernel's timer as something that Tokio waits for.
#[cfg(target_os = "linux")]
mod timer {
    use std::{
        io,
        os::fd::{AsFd as _, AsRawFd, RawFd},
        time::Duration,
    };

    use nix::sys::{
        time::TimeSpec,
        timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
    };
    use tokio::io::{Interest, unix::AsyncFd};

    /// A timer that rings once.
    #[derive(Debug)]
    pub struct Timer(AsyncFd<Descriptor>);

    /// A kernel timer that Tokio can watch.
    #[derive(Debug)]
    struct Descriptor(TimerFd);

    impl AsRawFd for Descriptor {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_fd().as_raw_fd()
        }
    }

    impl Timer {
        /// A timer that is not set.
        #[expect(
            deprecated,
            reason = "the new constructor is unsafe, for descriptors that change under Tokio's \
                      feet; this one is owned and never changes"
        )]
        pub fn new() -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
            Ok(Self(AsyncFd::with_interest(Descriptor(timer), Interest::READABLE)?))
        }

        /// Rings after this time.
        pub async fn ring_after(&self, time: Duration) -> io::Result<()> {
            let once = Expiration::OneShot(TimeSpec::from_duration(time));
            self.0.get_ref().0.set(once, TimerSetTimeFlags::empty())?;
            self.0.readable().await?.clear_ready();
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_alarm_rings_too_early() {
        let mut alarm = Alarm::precise();
        for micros in [0, 5, 100, 3000] {
            let moment = Instant::now() + Duration::from_micros(micros);
            alarm.wait_until(moment).await.unwrap();
            assert!(Instant::now() >= moment);
        }
    }
}
