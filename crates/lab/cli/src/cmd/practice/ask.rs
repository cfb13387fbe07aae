//! A question on the terminal.

use std::io::{BufRead as _, Write as _, stderr, stdin};

use anyhow::bail;
use lab_report::translate;
use lab_system::err;

/// Asks until an answer can be used, and says why one can't.
///
/// # Errors
///
/// If the input ends first.
pub fn ask<T>(
    question: &str,
    flag: &str,
    usable: impl Fn(&str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let mut lines = stdin().lock().lines();
    loop {
        // A missing terminal shows when the answer is read.
        let _ = write!(stderr(), "{question} ");
        let Some(line) = lines.next() else {
            err!("");
            bail!(translate!(
                "no answer, so nothing was changed: give it here, or as {flag}",
                flag
            ));
        };
        match usable(line?.trim()) {
            Ok(answer) => return Ok(answer),
            Err(why) => err!("  {why}"),
        }
    }
}
