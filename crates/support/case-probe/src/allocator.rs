//! The process's allocator, which passes every allocation on to the counter and to the sampler.

use tracking_allocator::{AllocationGroupId, AllocationRegistry, AllocationTracker, Allocator};

#[global_allocator]
static GLOBAL: Allocator<std::alloc::System> = Allocator::system();

pub(crate) fn start() {
    // An error means that another server in this process has started it already.
    let _ = AllocationRegistry::set_global_tracker(Tracker);
    AllocationRegistry::enable_tracking();
}

struct Tracker;

impl AllocationTracker for Tracker {
    /// Not called for allocations that are made in here.
    fn allocated(&self, _: usize, size: usize, _: usize, _: AllocationGroupId) {
        #[cfg(feature = "count-allocations")]
        crate::allocations::count(size);
        #[cfg(feature = "profile-heap")]
        crate::heap::allocated(size);
    }

    fn deallocated(
        &self,
        _: usize,
        _: usize,
        _: usize,
        _: AllocationGroupId,
        _: AllocationGroupId,
    ) {
    }
}
