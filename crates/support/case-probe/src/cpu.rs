//! Samples from inside where CPU time goes. This needs no rights and no tool.
//!
//! A timer that runs while the process uses CPU time sends a signal. The thread that gets it walks its
//! own stack. Frames of the kernel are not seen.
//!
//! The kernel checks that timer at its own ticks, 250 times a second on most systems. So the samples
//! give shares of CPU time; take the total from the system's accounting.
//!
//! The walk can deadlock: before glibc 2.35 it takes a lock that the interrupted code may hold. Ask
//! with a time limit.

use std::{collections::BTreeMap, time::Duration};

use hyper::{StatusCode, Uri};
use pprof::{ProfilerGuard, ProfilerGuardBuilder};
use tokio::{sync::Semaphore, task::spawn_blocking};

use crate::{
    query::number,
    routes::{Report, TEXT, failed},
};

/// There is one timer and one signal.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

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
    let mut skipped = SKIPPED.to_vec();
    skipped.extend(skip_libc.then_some("libc"));
    let hz = i32::try_from(hz).map_err(failed)?;
    // Starting and reporting both look up symbols, which takes long.
    let start = move || ProfilerGuardBuilder::default().frequency(hz).blocklist(&skipped).build();
    let profiler = spawn_blocking(start).await.map_err(failed)?.map_err(failed)?;
    tokio::time::sleep(Duration::from_millis(ms)).await;
    let folded = spawn_blocking(move || folded(&profiler)).await.map_err(failed)?;
    Ok((TEXT, folded.map_err(failed)?))
}

/// One line for each stack, the outermost frame first, and its number of samples.
///
/// Inlined functions are left out: pprof merges samples by function, and would report all of them with
/// what was inlined at the first.
fn folded(profiler: &ProfilerGuard<'_>) -> pprof::Result<String> {
    let mut stacks = BTreeMap::<_, isize>::new();
    for (stack, samples) in profiler.report().build()?.data {
        let frames = stack.frames.iter().rev().filter_map(|inlined| inlined.last());
        let names: Vec<_> = frames.map(|frame| frame.name().replace(';', ":")).collect();
        *stacks.entry(names.join(";")).or_default() += samples;
    }
    Ok(stacks.into_iter().map(|(stack, samples)| format!("{stack} {samples}\n")).collect())
}
