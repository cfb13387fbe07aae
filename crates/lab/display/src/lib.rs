//! How figures look: in words, in tables, in pictures, on a page.
//!
//! Figures go in; text, SVG and HTML come out. Nothing here reads a file or a clock. Functions say
//! in their names which unit they expect.

mod codes;
pub mod page;
pub mod picture;
mod printed;
mod table;
pub mod tables;
mod words;

pub use codes::{NOISE, code, document, explained, explanations, noted, reason, sentence, told};
pub use printed::{all_printed, printed};
pub use table::{Table, count_table};
pub use words::*;

/// Like `println!`, but does not panic if the reader is gone, as after `| head`. Whatever else fails is kept
/// for [`all_printed`].
#[macro_export]
macro_rules! out {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        $crate::printed(writeln!(std::io::stdout(), $($part)*));
    }};
}

/// Like `eprintln!`, but does not panic if the terminal is gone.
#[macro_export]
macro_rules! err {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($part)*);
    }};
}
