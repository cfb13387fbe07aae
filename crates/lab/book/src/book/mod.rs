//! The book: figures, excerpts and pictures come from where they were measured.
//!
//! `just docs` writes the text between two comments in `docs/src/**/*.md` and in the README. A begin
//! that is alone on its line makes a block; any other is part of its line, with a word before it:
//!
//! ```markdown
//! <!-- lab: table("counts", lock_scope) -->
//! ...generated...
//! <!-- /lab -->
//!
//! The fix gives <!-- lab: lock_scope.fixed.speedup.throughput | factor -->280×<!-- /lab -->.
//! ```
//!
//! The first comment holds an expression of [minijinja](https://docs.rs/minijinja) over
//!
//! - the cases, by name: `lock_scope`, and their variants `lock_scope.slow`. Their values are those
//!   of the newest record below `docs/record`, under the names of its fields, which end in their
//!   units: `lock_scope.slow.throughput_rps`, `lock_scope.users`. `sources` adds `args`, `counts` and
//!   `profile`;
//! - `benches`, Criterion's figures: `benches.alternatives_hot_clone.borrow.ns`;
//! - `record`: its date, machine, pairs, command, build;
//! - `replications`, the JSON files below `docs/replications`.
//!
//! In names, `_` replaces `-`, `.` and `/`. Expressions can compute; arithmetic needs parentheses
//! before a filter. `filters` has the filters, `functions` lists the functions that `blocks` makes, and `tables` has the
//! tables. `just docs --help` prints that list, and `just docs --eval EXPRESSION` the value of an expression, or the
//! names that it has.
//!
//! A long expression gets a short name, which its markers carry, in one comment at the end of the page. `names` knows
//! what is wrong with such names, and gives a Chinese page those of the English one:
//!
//! ```markdown
//! A round takes <!-- lab: round_ns -->88.9<!-- /lab --> ns.
//!
//! <!-- figures
//! round_ns = (2000 / hot_clone.slow.throughput_rps) | figure
//! -->
//! ```
//!
//! `just docs --check` changes nothing. It reports stale markers, broken ones, broken links, and lines of prose that
//! `width` finds too long.
//!
//! The drills in `docs/drills` have markers for their figures, and `drills` writes all of them into a page.
//!
//! The Chinese pages in `docs/zh-CN` are filled in the same way. `translated_pages` knows whether each is as new as
//! the English one, and `words` puts Chinese heads and captions in the place of English ones. `translated_texts` knows which of the
//! texts that `lab` says are older than the English ones, and `screen` explains the words of its tables.

mod blocks;
mod card;
mod drills;
mod evaluate;
mod excerpt;
mod failed;
mod filters;
mod functions;
mod links;
mod markdown;
mod marker;
mod names;
mod page;
mod profiles;
mod relink;
mod screen;
mod sources;
mod splice;
mod tables;
#[cfg(test)]
mod tests;
mod translated_pages;
pub mod translated_texts;
mod width;
mod words;

pub use evaluate::Book;
pub use functions::help;
pub use links::broken;
pub use page::{CHAPTERS, Page, Problem, pages, pictures};
pub use relink::relinked;
pub use screen::{SCREEN, unexplained};
pub use sources::newest;
pub use splice::{Spliced, splice};
pub use translated_pages::{age, translated};
pub use width::too_long;
