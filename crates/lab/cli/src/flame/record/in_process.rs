//! The sampler in the server's own process: needs no rights, and sees the program's own code only.

use std::time::Duration;

use super::{
    super::{Folded, Recording, Rung},
    Failure, Obstacle, Subject,
    roots::is_rooted,
    window,
};
use crate::load;

/// Samples a second of CPU time. Its timer ticks with the kernel's, which may be as slow as 100 a
/// second: a faster rate would lose samples without a word.
const RATE: u32 = 99;

/// How much longer than the window the answer may take, as it has names to look up. An unwinder
/// that interrupts a thread which holds the loader's lock waits for ever.
pub(super) const WATCHDOG: Duration = Duration::from_secs(5);

/// Lets the server sample itself for the window, and waits for its answer no longer than
/// `watchdog` after that.
pub(super) async fn record(
    subject: &Subject<'_>,
    length: Duration,
    watchdog: Duration,
) -> Result<Recording, Failure> {
    let no_sampler = || Obstacle::new("the server has no sampler in its process");
    let url = subject.url.ok_or_else(no_sampler)?;
    let target = load::address(url).map_err(Failure::Fatal)?;
    let path = format!("/.lab/cpu?ms={}&hz={RATE}", length.as_millis());
    // At the same time, as looking up names takes CPU time after the window.
    let (answer, window) = tokio::join!(
        load::get(target, &path, length + watchdog),
        window::pass(subject.pid, length)
    );
    let window = window?;
    let folded = match answer {
        Ok((200, body)) => String::from_utf8_lossy(&body).into_owned(),
        Ok((404, _)) => return Err(no_sampler().into()),
        Ok((status, body)) => {
            let said = String::from_utf8_lossy(&body);
            let reason = format!("the server's own sampler answered {status}: {}", said.trim());
            return Err(Obstacle::new(reason).into());
        }
        Err(error) => {
            window::ensure_alive_for_a_while(subject.pid).await?;
            let reason = format!("the server's own sampler hung or broke off: {error:#}");
            return Err(Obstacle::new(reason).into());
        }
    };
    let stacks: Folded = folded.parse().map_err(|error| {
        Obstacle::new(format!("the server's own sampler answered nonsense: {error:#}"))
    })?;
    let samples = stacks.total();
    let rooted: u64 =
        stacks.iter().filter(|(stack, _)| is_rooted(stack)).map(|(_, weight)| weight).sum();
    Ok(Recording {
        rung: Rung::InProcess,
        samples,
        rooted_share: (samples > 0).then(|| rooted as f64 / samples as f64),
        // It has a slot for each sample, and none is dropped that the timer took.
        lost_share: 0.0,
        sampled_cpu: Duration::from_secs_f64(samples as f64 / f64::from(RATE)),
        system_cpu: window.system_cpu,
        window: window.length,
        file: None,
        by_timer: true,
        notices: Vec::new(),
        stacks,
    })
}
