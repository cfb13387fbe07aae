//! The first of the two changes between slow and fixed, and one more behind fixed.

pub mod borrowed;
pub mod no_clone;
