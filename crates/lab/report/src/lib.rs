//! Every word about a result: figures with their units, the sentences of codes, tables, and a comparison in the
//! terminal and as a comment.
//!
//! Results go in, text comes out. Nothing here reads a file or a clock. Functions say in their names which unit
//! they expect.

mod codes;
mod comment;
mod summary;
mod table;
pub mod tables;
mod weight;
mod words;

pub use codes::{
    NOISE, all_told, code, document, explained, explanations, noted, reason, sentence, told,
};
pub use comment::comment;
pub use summary::{comparison, overview};
pub use table::{Table, count_table};
pub use weight::{per_request, weight};
pub use words::*;
