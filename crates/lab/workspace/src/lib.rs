//! What is on the disk.
//!
//! [`Workspace`] finds the cases, their binaries and the results, and [`criterion`] reads what Criterion left.

pub mod criterion;
mod places;

pub use places::{Workspace, find_bin_dir, lab_itself};
