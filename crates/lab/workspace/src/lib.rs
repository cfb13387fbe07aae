//! What is on the disk.
//!
//! [`Workspace`] finds the cases, their binaries and the results. A [`Store`] keeps records, an [`Output`] is a
//! directory in the making, and [`criterion`] reads what Criterion left. Whatever is written is complete, or not
//! there.

pub mod criterion;
mod files;
mod output;
mod places;
mod store;

pub use files::{read_file, write_new, write_whole};
pub use output::Output;
pub use places::{Workspace, find_bin_dir, lab_itself};
pub use store::{Store, read};
