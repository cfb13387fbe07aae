//! The reader's own fix of a case: `src/mine.rs`, which begins as a copy of `slow.rs`.
//!
//! [`begin`] makes it, [`check`] judges it by three gates, and an [`Entry`] of the journal keeps what
//! the reader predicted and reached. [`solution`] compares it with our fix.

#![warn(clippy::missing_errors_doc)]

mod answers;
mod asked;
mod check;
mod commit;
pub mod contest;
mod counts;
mod course;
mod difference;
mod draw;
mod guesses;
mod in_sight;
mod journal;
mod outside;
mod overtaking;
mod report;
mod servers;
mod shared;
mod source;
mod speed;
mod translated;

pub use check::{check, length};
pub use course::{course, latest, next_after};
pub use guesses::guesses;
pub use journal::Entry;
pub use outside::{Outside, look};
pub use report::{Gate, Mark, Report};
pub use servers::Servers;
pub use source::{begin, begin_again, is_untouched, solution};
pub use translated::{in_book, in_language, page};
