//! The second gate: exact counts, which no machine changes, and the tests of the case's package.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use lab_display::thousands;
use lab_measure::count;
use lab_model::{Case, Criteria, MINE, Overrides, Workspace};
use lab_servers::build_test;

use crate::check::Found;

/// How long the tests of a file may run, once they are built.
const PATIENCE: Duration = Duration::from_secs(60);

/// Counts what the first visit to a fresh server costs. A later visit could be answered from a cache.
pub(super) async fn counts(
    workspace: &Workspace,
    case: &Case,
    criteria: &Criteria,
) -> anyhow::Result<Found> {
    let count = Overrides { warm_up: 0, visits: 1, ..case.count.clone() };
    let (counts, _) = count::measure(workspace, &Case { count, ..case.clone() }, MINE).await?;
    let most = criteria.at_most.iter().map(|limit| ("at most", limit));
    let least = criteria.at_least.iter().map(|limit| ("at least", limit));
    let mut all = Vec::new();
    for (bound, (name, limit)) in most.chain(least) {
        let count = counts.exact.get(name).copied().unwrap_or_default();
        let words = name.rsplit('.').next().unwrap_or(name).replace('_', " ");
        let measured = format!("{} {words} in a first visit", thousands(count as f64));
        let needed = format!("{bound} {}", thousands(*limit as f64));
        if if bound == "at most" { count > *limit } else { count < *limit } {
            return Ok(Err([measured, needed]));
        }
        all.push(format!("{measured} ({needed})"));
    }
    Ok(Ok(all.join("; ")))
}

/// Adds to what was found how the package's tests end with the reader's variant in it.
pub(super) async fn with_tests(
    mut found: Found,
    workspace: &Workspace,
    case: &Case,
    names: impl Iterator<Item = &String>,
) -> anyhow::Result<Found> {
    for name in names {
        let Ok(measured) = found else { break };
        let mut test = Command::new(build_test(workspace, &case.name, name).await?);
        test.current_dir(workspace.case_dir(case)).args(["--nocapture", "--test-threads=1"]);
        found = match lab_system::run(test, PATIENCE, Stdio::piped()).await {
            Ok(_) if measured.is_empty() => Ok(format!("tests/{name}.rs passes")),
            Ok(_) => Ok(format!("{measured}; tests/{name}.rs passes")),
            Err(error) => Err(panic(&error.to_string())),
        };
    }
    Ok(found)
}

/// What a failed assertion says. Of two values, the left one was measured, and the right one is needed.
fn panic(output: &str) -> [String; 2] {
    let lines = output.lines().map(|line| line.trim_start_matches([' ', '|']));
    let lines = lines.skip_while(|line| !line.contains("panicked at")).skip(1);
    let lines: Vec<_> = lines.take_while(|line| !line.starts_with("note:")).collect();
    let said = lines.first().copied().unwrap_or(output.lines().next().unwrap_or_default());
    let said = said.rsplit("failed: ").next().unwrap_or(said).trim_start_matches("mine: ");
    let value = |side: &str| lines.iter().find_map(|line| line.strip_prefix(side));
    let measured = value("left: ").map_or(said.to_owned(), |left| format!("{said}: {left}"));
    [measured, value("right: ").unwrap_or_default().to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_assertion_is_shown_in_one_line() {
        let output = "`x` failed (exit status: 101); its last lines:\n  | \n  | thread 'a' (7) panicked at \
             tests/mechanism.rs:43:9:\n  | assertion `left == right` failed: mine: 64 reads\n  \
             |   left: 3.2s\n  |  right: 50ms\n  | note: run with `RUST_BACKTRACE=1`";
        assert_eq!(panic(output), ["64 reads: 3.2s", "50ms"]);
        let hung = "`x` did not finish within 60 s: run it yourself to see why";
        assert_eq!(panic(hung), [hung, ""]);
    }
}
