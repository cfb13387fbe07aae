//! Samples from inside where CPU time goes. This needs no rights and no tool.
//!
//! A timer that runs while the process uses CPU time sends a signal. The thread that gets it walks its
//! own stack. Frames of the kernel are not seen.
//!
//! The kernel checks that timer at its own ticks, 250 times a second on most systems. So the samples
//! give shares of CPU time; take the total from the system's accounting.
//!
//! Setting up the sampler, clearing it and looking up the names of functions cost a tenth of a second
//! of CPU time each. That is done when the server starts and when it is asked for the stacks, and not
//! while somebody measures.
//!
//! The walk can deadlock: before glibc 2.35 it takes a lock that the interrupted code may hold. Ask
//! with a time limit.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, Once, PoisonError},
    time::Duration,
};

use hyper::{StatusCode, Uri};
use pprof::{Frames, ProfilerGuard, ProfilerGuardBuilder, UnresolvedReport};
use tokio::{sync::Semaphore, task::spawn_blocking};

use crate::{
    query::number,
    report::{Report, TEXT, failed},
};

/// There is one timer and one signal.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// The last samples, without names, and the sampler that took them: dropping it clears it.
static SAMPLES: Mutex<Option<(UnresolvedReport, ProfilerGuard<'static>)>> = Mutex::new(None);

/// Libraries in which no sample is taken, since the lock may be held there. pprof's documentation adds
/// `libc`, but that loses the samples in `malloc`: 41 of 100 in the slow hot-clone. With glibc 2.36,
/// none of 70 runs under load got stuck without it. `skip_libc=1` adds it for other systems.
const SKIPPED: [&str; 3] = ["libgcc", "pthread", "vdso"];

pub(crate) async fn answer(uri: &Uri) -> Report {
    let ms = number(uri, "ms", 5000, 1..=60_000)?;
    let hz = number(uri, "hz", 499, 1..=999)?;
    let skip_libc = number(uri, "skip_libc", 0, 0..=1)? == 1;
    let Ok(_permit) = ONE_AT_A_TIME.try_acquire() else {
        return Err((
            StatusCode::CONFLICT,
            "another request samples CPU time already; wait for it to end".to_owned(),
        ));
    };
    drop(samples().take());
    let mut skipped = SKIPPED.to_vec();
    skipped.extend(skip_libc.then_some("libc"));
    let hz = i32::try_from(hz).map_err(failed)?;
    let start = move || ProfilerGuardBuilder::default().frequency(hz).blocklist(&skipped).build();
    let profiler = spawn_blocking(start).await.map_err(failed)?.map_err(failed)?;
    tokio::time::sleep(Duration::from_millis(ms)).await;
    let report = profiler.report().build_unresolved().map_err(failed)?;
    let count: isize = report.data.values().sum();
    *samples() = Some((report, profiler));
    Ok((TEXT, format!("{count} samples\n")))
}

fn samples() -> MutexGuard<'static, Option<(UnresolvedReport, ProfilerGuard<'static>)>> {
    SAMPLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does what costs most the first time: reads the program's symbols and sets up the sampler.
pub(crate) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(ProfilerGuardBuilder::default().build()));
}

/// The last samples as folded stacks.
pub(crate) async fn stacks() -> Report {
    let Some((report, profiler)) = samples().take() else {
        return Err((StatusCode::NOT_FOUND, "nothing was sampled: ask /.lab/cpu first".to_owned()));
    };
    let folded = move || {
        drop(profiler);
        folded(report)
    };
    let folded = spawn_blocking(folded).await.map_err(failed)?;
    Ok((TEXT, folded))
}

/// One line for each stack, the outermost frame first, and its number of samples.
///
/// Inlined functions are left out: pprof merges samples by function, and would report all of them with
/// what was inlined at the first.
fn folded(report: UnresolvedReport) -> String {
    let mut stacks = BTreeMap::<_, isize>::new();
    for (stack, samples) in report.data {
        let stack = Frames::from(stack);
        let frames = stack.frames.iter().rev().filter_map(|inlined| inlined.last());
        let names: Vec<_> = frames.map(|frame| frame.name().replace(';', ":")).collect();
        *stacks.entry(names.join(";")).or_default() += samples;
    }
    stacks.into_iter().map(|(stack, samples)| format!("{stack} {samples}\n")).collect()
}
