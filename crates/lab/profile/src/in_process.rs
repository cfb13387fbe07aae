//! The sampler in the server's own process: it needs no rights and sees the program's own code only.

use std::{pin::Pin, time::Duration};

use anyhow::Context as _;
use lab_observation::{Kernel, Profiler, Recording};
use lab_system::System;
use tokio::time::timeout;

use super::{
    Failure, Obstacle, Process, Profilers, ReadingFuture, SamplingFuture, SamplingMethod, window,
};

/// Gets a path of the server, with the HTTP client of the caller.
pub type Sampler<'a> = dyn Fn(String) -> Fetching + 'a;
/// The status and the body of the answer.
pub type Fetching = Pin<Box<dyn Future<Output = anyhow::Result<(u16, Vec<u8>)>>>>;

/// Samples per second of CPU time. The timer ticks with the kernel's, which may be as slow as 100 per
/// second: a faster rate would silently lose samples.
const RATE: u32 = 99;

/// How much longer an answer may take. An unwinder that interrupts a thread holding the loader's lock
/// hangs forever.
pub const WATCHDOG: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct InProcess;

impl SamplingMethod for InProcess {
    fn profiler(&self) -> Profiler {
        let label = "in-process sampler, user frames only";
        Profiler { name: "in-process", label, kernel: Kernel::Callers }
    }

    fn look(&self, _: &System, has_sampler: bool) -> Result<bool, Obstacle> {
        Ok(has_sampler)
    }

    /// Asks the server to sample itself for the window, and waits a little longer; then for the
    /// stacks. It looks up their names only then, and not while its CPU time is measured.
    fn sample<'a>(&'a self, profilers: &'a Profilers, process: Process<'a>) -> SamplingFuture<'a> {
        Box::pin(async move {
            let sampler = process.sampler.ok_or_else(no_sampler)?;
            let (pid, length, watchdog) = (process.pid, process.window, profilers.watchdog);
            let path = format!("/.lab/cpu?ms={}&hz={RATE}", length.as_millis());
            let (answer, window) =
                tokio::join!(ask(sampler, path, length + watchdog, pid), window::pass(pid, length));
            let window = window?;
            answer?;
            let reading: ReadingFuture<'a> = Box::pin(async move {
                let folded = ask(sampler, "/.lab/cpu/stacks".to_owned(), watchdog, pid).await?;
                let stacks = folded.parse().map_err(|error| {
                    Obstacle::new(format!("the in-process sampler answered nonsense: {error:#}"))
                })?;
                let recording = Recording::new(self.profiler(), stacks, window);
                let seconds = recording.samples as f64 / f64::from(RATE);
                let sampled_cpu = Duration::from_secs_f64(seconds);
                Ok(Some(Recording { sampled_cpu, ..recording }))
            });
            Ok(reading)
        })
    }
}

fn no_sampler() -> Obstacle {
    Obstacle::new("the server has no in-process sampler")
}

async fn ask(
    sampler: &Sampler<'_>,
    path: String,
    patience: Duration,
    pid: u32,
) -> Result<String, Failure> {
    let answer = timeout(patience, sampler(path)).await;
    let answer = answer.with_context(|| format!("no answer within {} s", patience.as_secs()));
    match answer.flatten() {
        Ok((200, body)) => Ok(String::from_utf8_lossy(&body).into_owned()),
        Ok((404, _)) => Err(no_sampler().into()),
        Ok((status, body)) => {
            let message = String::from_utf8_lossy(&body);
            let reason = format!("the in-process sampler answered {status}: {}", message.trim());
            Err(Obstacle::new(reason).into())
        }
        Err(error) => {
            window::ensure_alive_for_a_while(pid).await?;
            let reason = format!("the in-process sampler hung or broke off: {error:#}");
            Err(Obstacle::new(reason).into())
        }
    }
}
