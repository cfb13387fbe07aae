//! All recipes, a file for those that quote from the same source.

mod benches;
mod charts;
mod commands;
mod counts;
mod diff;
mod excerpt;
mod facts;
mod figures;
mod flame;
mod one_case;
mod steps;
mod summary;
#[cfg(test)]
mod tests;

use super::recipe::{
    Form::{Block, Inline},
    Recipe,
};

/// The recipes in the order of `lab docs --recipes`; the reference in [`crate::docs`] has the same.
#[rustfmt::skip]
pub static RECIPES: [Recipe; 32] = [
    Recipe { form: Block, make: excerpt::code, usage: "code FILE [fn NAME | struct NAME | mod]",
        gives: "an excerpt of a source file, linked; `mod`: all but the leading `//!` lines" },
    Recipe { form: Block, make: diff::diff, usage: "diff FILE_A FILE_B",
        gives: "what changes from one source file to another, without their `//!` lines" },
    Recipe { form: Block, make: summary::table, usage: "table summary",
        gives: "all cases, fixed against slow: req/s, CPU per request, noise" },
    Recipe { form: Block, make: one_case::table, usage: "table case CASE",
        gives: "slow and fixed of a case: req/s, CPU per request, latencies, memory" },
    Recipe { form: Block, make: steps::table, usage: "table steps CASE",
        gives: "every variant of a case against slow" },
    Recipe { form: Block, make: counts::table, usage: "table counts CASE",
        gives: "what a page costs each variant, counted: the case's counts.toml" },
    Recipe { form: Block, make: flame::top, usage: "table top CASE VARIANT [cpu|waits|allocations]",
        gives: "the functions that cost most, by the record's stacks" },
    Recipe { form: Block, make: benches::table, usage: "table benches GROUP",
        gives: "a group of Criterion's: time, interval, factor against the first" },
    Recipe { form: Inline, make: commands::command, usage: "command summary|benches|CASE|counts CASE|flame CASE",
        gives: "the command that made it" },
    Recipe { form: Block, make: charts::speedups, usage: "chart speedups",
        gives: "a chart of all cases' factors" },
    Recipe { form: Block, make: charts::case, usage: "chart case CASE",
        gives: "a chart of each variant's throughput, with its interval" },
    Recipe { form: Block, make: charts::latency, usage: "chart latency CASE",
        gives: "a chart of a case's latencies" },
    Recipe { form: Block, make: charts::sweep, usage: "chart sweep GROUP",
        gives: "a chart of slow and fixed over a parameter, with their crossover" },
    Recipe { form: Block, make: flame::picture, usage: "flame CASE FILE.svg CAPTION...",
        gives: "a picture of the record's flame page, with its caption" },
    Recipe { form: Inline, make: figures::speedup, usage: "speedup CASE throughput|cpu [VARIANT]",
        gives: "by how much a variant (fixed) beats slow: `280× (279–280)`" },
    Recipe { form: Inline, make: figures::factor, usage: "factor CASE throughput|cpu [VARIANT]",
        gives: "the same without its interval: `280×`" },
    Recipe { form: Inline, make: figures::noise, usage: "noise CASE [throughput|cpu]",
        gives: "how far slow strays from itself: `±3.3 %`" },
    Recipe { form: Inline, make: figures::throughput, usage: "throughput CASE VARIANT",
        gives: "right answers per second: `19.6 req/s`" },
    Recipe { form: Inline, make: figures::cpu, usage: "cpu CASE VARIANT",
        gives: "CPU time of a request: `4.8 ms`" },
    Recipe { form: Inline, make: figures::latency, usage: "latency CASE VARIANT p50|p90|p99 [open]",
        gives: "a percentile of latency, of the closed loop or the open one" },
    Recipe { form: Inline, make: counts::count, usage: "count CASE VARIANT NAME",
        gives: "an exact count of a page, such as `allocations` or `upstream.tcp_connections`" },
    Recipe { form: Inline, make: facts::load, usage: "load CASE",
        gives: "the load in words" },
    Recipe { form: Inline, make: facts::users, usage: "users CASE",
        gives: "how many users the load has" },
    Recipe { form: Inline, make: facts::think, usage: "think CASE",
        gives: "how long a user pauses: `500 ms`" },
    Recipe { form: Inline, make: facts::arg, usage: "arg CASE ARGUMENT UNIT",
        gives: "an argument of the case's servers, as `--downstream-ms` in `ms`: `50 ms`" },
    Recipe { form: Inline, make: benches::time, usage: "bench GROUP NAME",
        gives: "a time of Criterion's; of a sweep, `NAME/PARAMETER`" },
    Recipe { form: Inline, make: benches::ratio, usage: "ratio GROUP NAME_A NAME_B",
        gives: "how many times as long A takes as B" },
    Recipe { form: Inline, make: flame::share, usage: "share CASE VARIANT FUNCTION [cpu|waits|allocations]",
        gives: "the share of a function with all that it calls" },
    Recipe { form: Inline, make: flame::cost, usage: "cost CASE VARIANT FUNCTION [cpu|waits|allocations]",
        gives: "the same as a time or as bytes of a request" },
    Recipe { form: Inline, make: flame::meta, usage: "meta CASE VARIANT FIELD",
        gives: "how far to trust a profile: `samples`, `rooted_share`, `cpu_agreement` and the like" },
    Recipe { form: Inline, make: facts::record, usage: "record date|machine|pairs|commit|rustc|confidence",
        gives: "a fact of the newest record" },
    Recipe { form: Inline, make: facts::quote, usage: "quote TEXT",
        gives: "TEXT: a figure that is not ours, or not measured" },
];
