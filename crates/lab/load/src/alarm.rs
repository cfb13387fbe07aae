//! A precise timer that does not keep a core busy.
//!
//! Tokio's timer ticks in milliseconds, which is as long as many answers take. The usual fix, to
//! sleep until the last tick and spin from there, keeps a whole core busy from 1,000 arrivals a
//! second on. Linux has a timer with nanosecond resolution that wakes the `epoll` that Tokio sleeps
//! in. It is about 50 us late and costs two system calls. Only shorter waits spin.

use std::{io, time::Duration};

use tokio::time::{Instant, sleep_until};

/// Waits this short spin: setting a timer takes as long.
#[cfg(target_os = "linux")]
const SPUN: Duration = Duration::from_micros(20);

#[derive(Debug)]
pub enum Alarm {
    /// Tokio's own timer: up to 2 ms late, and exact under a paused clock.
    Ticks,
    #[cfg(target_os = "linux")]
    Precise(timer::Timer),
}

impl Alarm {
    /// The most precise timer that the system has.
    pub fn precise() -> Self {
        #[cfg(target_os = "linux")]
        if let Ok(timer) = timer::Timer::new() {
            return Self::Precise(timer);
        }
        Self::Ticks
    }

    /// Returns at once if `moment` has passed.
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
        #[expect(
            deprecated,
            reason = "the new constructor is unsafe because a descriptor may change; this one is \
                      owned and never changes"
        )]
        pub fn new() -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
            Ok(Self(AsyncFd::with_interest(Descriptor(timer), Interest::READABLE)?))
        }

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
    async fn no_alarm_is_early() {
        let mut alarm = Alarm::precise();
        for micros in [0, 5, 100, 3000] {
            let moment = Instant::now() + Duration::from_micros(micros);
            alarm.wait_until(moment).await.unwrap();
            assert!(Instant::now() >= moment);
        }
    }
}
