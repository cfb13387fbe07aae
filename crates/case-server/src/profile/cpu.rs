//! Where CPU time goes, sampled from inside: it needs no rights, and no tool.
//!
//! A timer that runs while the process uses CPU time sends a signal, and whichever thread gets it
//! walks its own stack. Only frames of the process itself are seen.
//!
//! The kernel looks at that timer only when its own clock ticks, 250 times a second on most systems.
//! So samples tell shares of CPU time; how much there was, the system's own account tells.
//!
//! The walk can deadlock: with a C library older than glibc 2.35 it takes a lock that the interrupted
//! code may hold. Who asks needs a time limit.

use std::{collections::BTreeMap, time::Duration};

use hyper::StatusCode;
use pprof::{ProfilerGuard, ProfilerGuardBuilder};
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{Query, TEXT, Told, failed};

/// There is one timer and one signal.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// Libraries in which no sample is taken, as the lock may be held there. `libc` should be among them
/// by the book, but then the samples in `malloc` are lost: 41 of 100 in the slow hot-clone. With
/// glibc 2.36 none of 70 runs under load got stuck without it. `skip_libc=1` adds it elsewhere.
const SKIPPED: [&str; 3] = ["libgcc", "pthread", "vdso"];

pub(super) async fn answer(query: Query<'_>) -> Told {
    let ms = query.number("ms", 5000, 1..=60_000)?;
    let hz = query.number("hz", 499, 1..=999)?;
    let skip_libc = query.number("skip_libc", 0, 0..=1)? == 1;
    let Ok(_permit) = ONE_AT_A_TIME.try_acquire() else {
        return Err((StatusCode::CONFLICT, "CPU time is being sampled already".to_owned()));
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

/// A line a stack, the outermost frame first, and how many samples hit it.
///
/// Functions that were inlined are left out: samples are put together by function, and then told
/// with what was inlined at the first of them.
fn folded(profiler: &ProfilerGuard<'_>) -> pprof::Result<String> {
    let mut stacks = BTreeMap::<_, isize>::new();
    for (stack, samples) in profiler.report().build()?.data {
        let frames = stack.frames.iter().rev().filter_map(|inlined| inlined.last());
        let names: Vec<_> = frames.map(|frame| frame.name().replace(';', ":")).collect();
        *stacks.entry(names.join(";")).or_default() += samples;
    }
    Ok(stacks.into_iter().map(|(stack, samples)| format!("{stack} {samples}\n")).collect())
}
