//! The functions that an expression can call, in one table: `just docs --help` prints it, and a wrong call is
//! explained by it.

use anyhow::anyhow;
use lab_cases::unknown;

/// A function that an expression can call.
struct MarkerFunction {
    name: &'static str,
    /// The arguments as a call has them. Optional arguments are in brackets.
    arguments: &'static str,
    /// A description of the text that the function puts between the ends of the marker.
    gives: &'static str,
}

const FUNCTIONS: [MarkerFunction; 18] = [
    function(
        "table",
        "KIND, [OF]",
        "a table, such as `summary`, `counts` of a case or `benches` of a group",
    ),
    function(
        "share",
        "VARIANT, NAME, [KIND]",
        "the share of a request that a function takes, with all that it calls",
    ),
    function(
        "cost",
        "VARIANT, NAME, [KIND]",
        "what that is, in ns, or in bytes for the kind `allocations`",
    ),
    function(
        "code",
        "FILE, [ITEM, NAME]",
        "a file of the workspace, or an item of it such as `fn read`",
    ),
    function("diff", "FILE, FILE", "the difference between two files of the workspace"),
    function(
        "flame",
        "CASE, FILE, CAPTION, [SEEN]",
        "a picture of `just flame`; SEEN says what it shows to readers who can't see it",
    ),
    function(
        "chart",
        "KIND, [OF]",
        "a chart: `ladder`, `flames` or `boxes` of a case, `law` up to a case or without points, `sweep` of a group of \
         benches",
    ),
    function(
        "md1",
        "RATE_PER_S, SERVICE_MS, QUANTILE",
        "the wait in a queue with one server, in ms",
    ),
    function("card", "CASE", "the card at the end of a case's page"),
    function("drills", "[NUMBER]", "all drills, or the one with this number"),
    function("minutes", "PAGE", "the minutes to read a page, and for its commands"),
    function("sh", "LINES", "commands, in which ADDRESS becomes that of the repository"),
    function(
        "badges",
        "",
        "whether the checks pass, the newest release, the compiler and the licence",
    ),
    function("codes", "", "what each code of a result means"),
    function("metrics", "", "the metrics that a case can promise"),
    function("suspects", "", "what `lab triage` may suspect"),
    function("screen", "KIND", "the words of a table on the screen, in Chinese"),
    function(
        "translates",
        "PAGE, CHECKSUM",
        "nothing, or that the English page is newer; `just docs --translated` writes the call",
    ),
];

const fn function(
    name: &'static str,
    arguments: &'static str,
    gives: &'static str,
) -> MarkerFunction {
    MarkerFunction { name, arguments, gives }
}

/// The table, for `--help`.
pub fn help() -> String {
    let mut help = "An expression of a marker can call:\n".to_owned();
    for MarkerFunction { name, arguments, gives } in &FUNCTIONS {
        help += &format!("  {name}({arguments})\n      {gives}\n");
    }
    help
}

/// Why a call of a function that isn't there fails.
pub(super) fn unknown_call(name: &str) -> anyhow::Error {
    unknown("function", name, FUNCTIONS.iter().map(|function| function.name))
}

/// How to write the call that an expression begins with, if it is one.
pub(super) fn right_call(expression: &str) -> Option<anyhow::Error> {
    let (called, _) = expression.split_once('(')?;
    let function = FUNCTIONS.iter().find(|function| function.name == called.trim())?;
    let MarkerFunction { name, arguments, gives } = function;
    Some(anyhow!("write `{name}({arguments})`, which gives {gives}"))
}

#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}
