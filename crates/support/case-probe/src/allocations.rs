//! Counts the allocations of the whole process; its answer has the counts of [`crate::work()`] and others, too.
//!
//! A buffer that grows counts as one more allocation, of its new size. The answer itself allocates:
//! ask twice in a row to see how much.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::report::{JSON, Report};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

pub(crate) fn count(size: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    BYTES.fetch_add(size as u64, Relaxed);
}

pub(crate) fn answer() -> Report {
    let (allocations, bytes) = (ALLOCATIONS.load(Relaxed), BYTES.load(Relaxed));
    let more = [crate::work::counts(), crate::statements::field(), crate::net::fields()].concat();
    Ok((JSON, format!("{{\"allocations\":{allocations},\"bytes\":{bytes}{more}}}\n")))
}
