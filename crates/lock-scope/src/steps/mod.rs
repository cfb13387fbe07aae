//! The two changes between slow and fixed, one at a time.

pub mod early_drop;
pub mod rwlock_held;
