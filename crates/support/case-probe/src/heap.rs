//! Estimates from samples how many bytes each stack allocates.
//!
//! Each thread counts down bytes to its next sample. The distance is drawn from an exponential
//! distribution, so every byte is sampled with the same probability. A sample of `s` bytes had the
//! probability `1 - exp(-s / MEAN_DISTANCE)`, and counts for `s` divided by it.
//!
//! What counts is what was asked for, freed or not. A buffer that grows asks for its new size.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

use hyper::Uri;
use tokio::task::spawn_blocking;
use tracking_allocator::AllocationRegistry;

use crate::{
    query::number,
    report::{JSON, Report, TEXT, failed},
};

mod account;
mod names;

use account::account;

/// Bytes between two samples, on average. The cases allocate from 9 kB to 38 MB a request. This gives
/// enough samples of the first and slows the second by a fifth.
const MEAN_DISTANCE: f64 = 64.0 * 1024.0;

pub(crate) fn reset() -> Report {
    // What is allocated under the lock must not ask for the lock.
    AllocationRegistry::untracked(|| account().clear());
    Ok((TEXT, "counting from here\n".to_owned()))
}

pub(crate) async fn answer(uri: &Uri) -> Report {
    let inlined = number(uri, "inlined", 0, 0..=1)? == 1;
    // The first look-up of names is slow.
    let report = move || {
        AllocationRegistry::untracked(|| {
            let stacks = account().clone();
            serde_json::to_string(&names::report(&stacks, inlined, MEAN_DISTANCE))
        })
    };
    Ok((JSON, spawn_blocking(report).await.map_err(failed)?.map_err(failed)?))
}

/// Samples every so many bytes.
pub(crate) fn allocated(size: usize) {
    let size = size as f64;
    if LOCAL.try_with(|local| local.hits(size)) == Ok(true) {
        account::sample(size, MEAN_DISTANCE);
    }
}

/// The state of one thread. It needs no drop, so it is usable until the thread ends.
struct Local {
    /// Bytes until the next sample.
    countdown: Cell<f64>,
    /// The state of the random numbers; 0 before the first.
    random: Cell<u64>,
}

thread_local! {
    static LOCAL: Local = const { Local { countdown: Cell::new(0.0), random: Cell::new(0) } };
}

impl Local {
    /// Bytes to the next sample, from an exponential distribution (xorshift64*).
    fn draw(&self) -> f64 {
        let mut x = self.random.get();
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.random.set(x);
        let uniform = (x.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64;
        -(1.0 - uniform).ln() * MEAN_DISTANCE
    }

    /// Whether the next `size` bytes contain the next sample.
    fn hits(&self, size: f64) -> bool {
        if self.random.get() == 0 {
            self.random.set(seed());
            self.countdown.set(self.draw());
        }
        let left = self.countdown.get() - size;
        let hit = left <= 0.0;
        self.countdown.set(if hit { self.draw() } else { left });
        hit
    }
}

/// Where a thread's random numbers start, another number for each thread.
fn seed() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    // An odd factor: no two threads share a number, and none gets 0.
    THREADS.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
