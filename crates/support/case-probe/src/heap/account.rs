//! The samples so far, by stack.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

/// Frames that are kept of a stack, from the innermost on.
const DEEPEST: usize = 256;

static ACCOUNT: LazyLock<Mutex<Account>> = LazyLock::new(Mutex::default);

/// Addresses of code, the innermost frame first.
pub(super) type Stack = Box<[usize]>;
pub(super) type Account = HashMap<Stack, Spent>;

/// What the samples of one stack add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub samples: u64,
    /// Estimated bytes that were allocated.
    pub bytes: f64,
}

/// Lock it only where allocations are not tracked, since the holder of the lock allocates.
pub(super) fn account() -> MutexGuard<'static, Account> {
    ACCOUNT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a sample of `size` bytes, allocated by the caller.
#[inline(never)]
pub(super) fn sample(size: f64, mean_distance: f64) {
    let mut stack = Vec::with_capacity(DEEPEST);
    backtrace::trace(|frame| {
        let address = frame.ip() as usize;
        // The last frame of a thread has the address 0.
        stack.extend((address != 0).then_some(address));
        stack.len() < DEEPEST
    });
    let mut account = account();
    let spent = account.entry(stack.into()).or_default();
    spent.samples += 1;
    spent.bytes += size / -(-size / mean_distance).exp_m1();
}
