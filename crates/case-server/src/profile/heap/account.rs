//! The samples so far, put together by stack.

use std::{
    collections::HashMap,
    sync::{
        LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Frames that are kept of a stack, from the innermost on.
const DEEPEST: usize = 256;

static ACCOUNT: LazyLock<Mutex<Account>> = LazyLock::new(Mutex::default);

/// Where code is, as addresses: the innermost frame first.
pub(super) type Stack = Box<[usize]>;

/// What the samples of one stack stand for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub samples: u64,
    /// Estimated bytes that were allocated.
    pub bytes: f64,
    /// The same, less what was freed right after: in the stack of a buffer that grows, the bytes
    /// that it grew by.
    pub grown: f64,
}

/// What was spent, by stack. A stack keeps its place for good, as its last sample may be pending.
#[derive(Default)]
pub(super) struct Account {
    places: HashMap<Stack, usize>,
    spent: Vec<Spent>,
}

/// The account, for one thread at a time. To be asked for only while allocations are not tracked:
/// who holds it allocates.
pub(super) fn account() -> MutexGuard<'static, Account> {
    ACCOUNT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Account {
    fn place(&mut self, stack: Stack) -> usize {
        *self.places.entry(stack).or_insert_with(|| {
            self.spent.push(Spent::default());
            self.spent.len() - 1
        })
    }

    pub(super) fn reset(&mut self) {
        self.spent.fill(Spent::default());
    }

    /// All stacks that anything was spent in.
    pub(super) fn stacks(&self) -> Vec<(Stack, Spent)> {
        let stacks = self.places.iter().map(|(stack, place)| (stack.clone(), self.spent[*place]));
        stacks.filter(|(_, spent)| spent.samples > 0).collect()
    }
}

/// A sample of which it is not known yet whether the old buffer is freed next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    place: usize,
    size: f64,
    /// How many bytes each of its bytes stands for.
    scale: f64,
}

impl Pending {
    /// Accounts for a sample of `size` bytes, allocated by the caller.
    #[inline(never)]
    pub(super) fn sample(size: f64, mean_distance: f64) -> Self {
        let mut stack = Vec::with_capacity(DEEPEST);
        backtrace::trace(|frame| {
            let address = frame.ip() as usize;
            // Below the first function of a thread there is nothing.
            stack.extend((address != 0).then_some(address));
            stack.len() < DEEPEST
        });
        let scale = 1.0 / -(-size / mean_distance).exp_m1();
        let mut account = account();
        let place = account.place(stack.into());
        let spent = &mut account.spent[place];
        spent.samples += 1;
        spent.bytes += size * scale;
        spent.grown += size * scale;
        Self { place, size, scale }
    }

    /// Notes that `size` bytes were freed next.
    pub(super) fn then_freed(self, size: f64) {
        let spent = &mut account().spent[self.place];
        spent.grown = (spent.grown - size.min(self.size) * self.scale).max(0.0);
    }
}

/// Where a thread's random numbers start, another number for each thread.
pub(super) fn seed() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    // An odd factor: no two threads share a number, and none gets 0.
    THREADS.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
