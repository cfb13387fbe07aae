//! Facts of the memory: what it was before the load and is after it, and whether it grew to the end.

use super::Facts;
use crate::{
    figure::Figure,
    measure::{Measured, MemoryVerdict},
};

impl Facts {
    pub(super) fn memory(&mut self, measured: &Measured) {
        let [first, .., last] = measured.memory.looks[..] else { return };
        let grown = last.used_mib - first.used_mib;
        self.put(Figure::MemoryBeforeMib, first.used_mib);
        self.put(Figure::MemoryAfterMib, last.used_mib);
        self.put(Figure::MemoryGrownShare, (grown / last.used_mib).max(0.0));
        let Some(growth) = measured.memory_growth() else { return };
        let is_steady = growth.verdict == MemoryVerdict::Grows;
        self.put(Figure::MemorySteady, f64::from(u8::from(is_steady)));
        self.put(Figure::MemoryBytesPerRequest, growth.bytes_per_request.estimate);
        self.put(Figure::MemoryBytesPerRequestLow, growth.bytes_per_request.low);
        self.put(Figure::MemoryBytesPerRequestHigh, growth.bytes_per_request.high);
        self.put(Figure::MemoryMibPerMinute, growth.mib_per_minute.estimate);
    }
}
