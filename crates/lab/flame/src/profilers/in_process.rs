//! The sampler in the server's own process: it needs no rights and sees the program's own code only.

use std::time::Duration;

use super::{Failure, Obstacle, Profiler, Recording, Subject, window};
use lab_load as load;

/// Samples per second of CPU time. The timer ticks with the kernel's, which may be as slow as 100 per
/// second: a faster rate would silently lose samples.
const RATE: u32 = 99;

/// How long after the window the answer may take, because the server looks up names. An unwinder
/// that interrupts a thread holding the loader's lock hangs forever.
pub const WATCHDOG: Duration = Duration::from_secs(5);

/// Asks the server to sample itself for the window, and waits at most `watchdog` longer.
pub async fn record(
    subject: &Subject<'_>,
    length: Duration,
    watchdog: Duration,
) -> Result<Recording, Failure> {
    let no_sampler = || Obstacle::new("the server has no in-process sampler");
    let url = subject.url.ok_or_else(no_sampler)?;
    let target = load::address(url).map_err(Failure::Fatal)?;
    let path = format!("/.lab/cpu?ms={}&hz={RATE}", length.as_millis());
    // Measure CPU time meanwhile: looking up names after the window costs CPU time too.
    let (answer, window) = tokio::join!(
        load::get(target, &path, length + watchdog),
        window::pass(subject.pid, length)
    );
    let window = window?;
    let folded = match answer {
        Ok((200, body)) => String::from_utf8_lossy(&body).into_owned(),
        Ok((404, _)) => return Err(no_sampler().into()),
        Ok((status, body)) => {
            let message = String::from_utf8_lossy(&body);
            let reason = format!("the in-process sampler answered {status}: {}", message.trim());
            return Err(Obstacle::new(reason).into());
        }
        Err(error) => {
            window::ensure_alive_for_a_while(subject.pid).await?;
            let reason = format!("the in-process sampler hung or broke off: {error:#}");
            return Err(Obstacle::new(reason).into());
        }
    };
    let stacks = folded.parse().map_err(|error| {
        Obstacle::new(format!("the in-process sampler answered nonsense: {error:#}"))
    })?;
    let recording = Recording::new(Profiler::InProcess, stacks, window.length);
    Ok(Recording {
        sampled_cpu: Duration::from_secs_f64(recording.samples as f64 / f64::from(RATE)),
        system_cpu: window.system_cpu,
        ..recording
    })
}
