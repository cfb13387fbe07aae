//! What is on the disk.
//!
//! [`Workspace`] finds the cases, their binaries and the results. A [`Store`] keeps records, and [`criterion`] reads
//! what Criterion left.

pub mod criterion;
mod places;
mod store;

pub use places::{Workspace, find_bin_dir, lab_itself};
pub use store::{Store, read};
