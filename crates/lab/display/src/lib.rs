//! How figures look: in words, in tables, in pictures, on a page.
//!
//! Figures go in; text, SVG and HTML come out. Nothing here reads a file or a clock. Functions say
//! in their names which unit they expect.

pub mod page;
pub mod picture;
mod words;

pub use words::*;
