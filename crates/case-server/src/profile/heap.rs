//! What is allocated in which stack, estimated from samples.
//!
//! Each thread counts down bytes from a number that is drawn anew for every sample, from an
//! exponential distribution: every byte is then hit with the same chance, whatever came before it.
//! A sample of `s` bytes was hit with the chance `1 - exp(-s / MEAN_DISTANCE)`, and stands for `s`
//! bytes divided by it.
//!
//! What counts is what was asked for, as in the build that counts exactly: freed or not, and of a
//! buffer that grows only what it grows by. `tracking-allocator` lets buffers grow by allocating
//! anew and freeing the old one. Which allocations are such is seen in their stacks.

use std::cell::Cell;

use tokio::task::spawn_blocking;
use tracking_allocator::{AllocationGroupId, AllocationRegistry, AllocationTracker, Allocator};

use super::{JSON, Query, TEXT, Told, failed};

mod account;
mod names;

use account::{Pending, account};

#[global_allocator]
static GLOBAL: Allocator<std::alloc::System> = Allocator::system();

/// Bytes between two samples, on average. The cases allocate from 9 kB to 38 MB a request: this gives
/// samples enough of the one, and costs the other a fifth of its speed.
const MEAN_DISTANCE: f64 = 64.0 * 1024.0;

pub(super) fn start() {
    // An error means that another server in this process has started it already.
    let _ = AllocationRegistry::set_global_tracker(Sampler);
    AllocationRegistry::enable_tracking();
}

pub(super) fn reset() -> Told {
    // What is allocated under the lock must not ask for the lock.
    AllocationRegistry::untracked(|| account().reset());
    Ok((TEXT, "counting from here\n".to_owned()))
}

pub(super) async fn answer(query: Query<'_>) -> Told {
    let inlined = query.number("inlined", 0, 0..=1)? == 1;
    // Looking up names takes long the first time.
    let told = move || {
        AllocationRegistry::untracked(|| {
            let stacks = account().stacks();
            serde_json::to_string(&names::tell(&stacks, inlined, MEAN_DISTANCE))
        })
    };
    Ok((JSON, spawn_blocking(told).await.map_err(failed)?.map_err(failed)?))
}

/// What a thread needs to know. Nothing in it has to be dropped, so it can be asked to the end.
struct Local {
    /// Bytes until the next sample.
    countdown: Cell<f64>,
    /// The state of the random numbers; 0 before the first.
    random: Cell<u64>,
    /// The last sample, until the thread allocates or frees something else.
    pending: Cell<Option<Pending>>,
}

thread_local! {
    static LOCAL: Local = const {
        Local { countdown: Cell::new(0.0), random: Cell::new(0), pending: Cell::new(None) }
    };
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

    /// Whether `size` bytes more hit the next sample.
    fn hits(&self, size: f64) -> bool {
        if self.random.get() == 0 {
            self.random.set(account::seed());
            self.countdown.set(self.draw());
        }
        let left = self.countdown.get() - size;
        let hit = left <= 0.0;
        self.countdown.set(if hit { self.draw() } else { left });
        hit
    }
}

/// Is told of every allocation, but of none that it makes itself.
struct Sampler;

impl AllocationTracker for Sampler {
    fn allocated(&self, _: usize, size: usize, _: usize, _: AllocationGroupId) {
        let size = size as f64;
        let _ = LOCAL.try_with(|local| {
            let hit = local.hits(size);
            local.pending.set(hit.then(|| Pending::sample(size, MEAN_DISTANCE)));
        });
    }

    /// A buffer that grows is allocated anew, and right after it the old one is freed.
    fn deallocated(
        &self,
        _: usize,
        size: usize,
        _: usize,
        _: AllocationGroupId,
        _: AllocationGroupId,
    ) {
        let pending = LOCAL.try_with(|local| local.pending.take());
        if let Ok(Some(pending)) = pending {
            pending.then_freed(size as f64);
        }
    }
}
