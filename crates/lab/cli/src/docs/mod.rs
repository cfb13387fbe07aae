//! `lab docs`: every figure, excerpt and picture of the course comes from where it was measured.
//!
//! What stands between a marker and its end is generated, in `docs/src/**/*.md` and in the README.
//! Markers are HTML comments, so that the Markdown reads well wherever it is shown. A begin that is
//! alone on its line makes a block; any other stands in its line, with a word before it:
//!
//! ```markdown
//! <!-- lab: table summary -->
//! ...generated...
//! <!-- /lab -->
//!
//! The fix gives <!-- lab: speedup lock-scope throughput -->280× (279–280)<!-- /lab --> the throughput.
//! ```
//!
//! `lab docs` writes anew what stands between them, `lab docs --check` only says what is stale, and
//! `lab docs --recipes` lists the recipes. They read the newest directory below `docs/record`, the
//! cases' `case.toml` and `counts.toml`, and the sources. One whose source is missing is an error.
//!
//! # Blocks
//!
//! | recipe | gives |
//! |---|---|
//! | `code FILE [fn NAME \| struct NAME \| mod]` | an excerpt of a source file with its link; `mod`: all but the leading `//!` lines |
//! | `diff FILE_A FILE_B` | the unified difference of two source files, without their `//!` lines |
//! | `table summary` | all cases, fixed against slow |
//! | `table case CASE` | slow and fixed: req/s, CPU per request, p50 and p99 of both loops, memory |
//! | `table steps CASE` | every variant against slow |
//! | `table counts CASE` | the exact counts of a page, from `crates/CASE/counts.toml` |
//! | `table top CASE VARIANT [cpu\|waits\|allocations]` | the functions that cost most, by the record's stacks |
//! | `table benches GROUP` | a group of Criterion's: time, interval, factor against the first |
//! | `chart speedups` | all cases' factors, as `docs/src/charts/speedups.svg` |
//! | `chart case CASE` | each variant's throughput with its interval |
//! | `chart latency CASE` | latencies of a case |
//! | `chart sweep GROUP` | slow and fixed over a parameter, with their crossover |
//! | `flame CASE FILE.svg CAPTION...` | a picture of the record's flame page; a caption has no figures |
//!
//! # In a line
//!
//! | recipe | gives |
//! |---|---|
//! | `command summary\|benches\|CASE\|counts CASE\|flame CASE` | the command that made it |
//! | `speedup CASE throughput\|cpu [VARIANT]` | `280× (279–280)`; the variant is `fixed` if none is named |
//! | `factor CASE throughput\|cpu [VARIANT]` | `280×` |
//! | `noise CASE [throughput\|cpu]` | how far slow strays from itself: `±3.3 %` |
//! | `throughput CASE VARIANT` | `19.6 req/s` |
//! | `cpu CASE VARIANT` | CPU time of a request: `4.8 ms` |
//! | `latency CASE VARIANT p50\|p90\|p99 [open]` | of the closed loop, or of the open one; `≥` marks a lower bound |
//! | `count CASE VARIANT NAME` | an exact count, such as `allocations` or `upstream.tcp_connections` |
//! | `load CASE` | the load in words |
//! | `users CASE` | `3,000` |
//! | `think CASE` | `500 ms` |
//! | `arg CASE ARGUMENT UNIT` | an argument from `case.toml`: `downstream-ms` in `ms`; GitHub shows a comment in a line that has `--` |
//! | `bench GROUP NAME` | a time of Criterion's; of a sweep, `NAME/PARAMETER` |
//! | `ratio GROUP NAME_A NAME_B` | how many times as long A takes as B |
//! | `share CASE VARIANT FUNCTION [cpu\|waits\|allocations]` | the share of a function with all that it calls |
//! | `cost CASE VARIANT FUNCTION [cpu\|waits\|allocations]` | the same as a time or as bytes of a request |
//! | `meta CASE VARIANT FIELD` | of the flame page's `meta.json`: `samples`, `rooted_share`, `cpu_s`, ... |
//! | `record date\|machine\|pairs\|commit\|rustc\|confidence` | a fact of the newest record |
//! | `quote TEXT` | TEXT: a figure that is not ours or not measured, such as an article's claim |
//!
//! # What else `--check` finds
//!
//! - A *figure in the prose*: a number with a unit outside of markers, code, link targets and
//!   comments. Arithmetic belongs into code, as in `` `1 / 50 ms = 20 per second` ``.
//! - A link, or its `#anchor`, that leads nowhere, in the same files and in CONTRIBUTING.
//! - An inline marker that begins a line. To Markdown such a line is raw HTML and ends its paragraph.

mod anchors;
mod benches;
mod check;
mod figure;
#[cfg(test)]
mod fixture;
mod links;
mod markdown;
mod marker;
mod mine;
mod page;
mod problem;
mod recipe;
mod recipes;
mod sources;
mod splice;
mod words;

pub use benches::{Bench, Benches, time_ns};
pub use check::check;
pub use mine::{Mine, write_mine};
pub use page::{CHAPTERS, Page, spliced as pages};
pub use problem::Problem;
pub use recipe::{Form, Made, Recipe};
pub use recipes::RECIPES;
pub use sources::{RECORDS, Sources, Stacks};
pub use splice::{Spliced, splice};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_names_every_recipe_as_it_is_called() {
        let source = include_str!("mod.rs");
        for recipe in &RECIPES {
            let row = format!("//! | `{}` |", recipe.usage.replace('|', "\\|"));
            assert!(source.contains(&row), "the reference lacks {row}");
        }
        assert_eq!(source.matches("\n//! | `").count(), RECIPES.len());
    }
}
