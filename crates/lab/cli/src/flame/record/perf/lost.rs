//! Samples that were taken and not kept.

use std::{path::Path, time::Duration};

use super::super::{Obstacle, program};

/// How many there were, by both accounts that `perf` has.
///
/// Its buffers leave a note in the stream when they had to drop something, which comes only once
/// there is room again. Newer kernels also count by themselves, which `perf report --stats` sums up.
/// The first is part of the second, so the larger one is right.
pub(super) async fn count(
    perf: &Path,
    file: &str,
    script: &str,
    patience: Duration,
) -> Result<u64, Obstacle> {
    let mut command = program::command(perf);
    command.args(["report", "--stats", "-i", file]);
    // An account of its own, which an old `perf` may lack: nothing depends on it alone.
    let stats = program::run(&mut command, "perf report --stats", patience).await;
    Ok(noted(script).max(stats.map_or(0, |stats| counted(&stats.out))))
}

/// The sum of the notes `PERF_RECORD_LOST lost 129`.
fn noted(script: &str) -> u64 {
    let notes = script
        .lines()
        .filter_map(|line| line.split_once("PERF_RECORD_LOST")?.1.split_once("lost "));
    notes.filter_map(|(_, number)| number.trim().parse::<u64>().ok()).sum()
}

/// The sum of the lines `LOST_SAMPLES events: 154` below each event's head, which count samples; one
/// above them, with a percentage, counts records.
fn counted(stats: &str) -> u64 {
    let lines = stats.lines().skip_while(|line| !is_event(line));
    let counts = lines.filter_map(|line| line.trim().strip_prefix("LOST_SAMPLES events:"));
    counts.filter_map(|number| number.trim().parse::<u64>().ok()).sum()
}

/// The head of an event's lines: `cpu-clock:ppp stats:`.
fn is_event(line: &str) -> bool {
    line.ends_with(" stats:") && !line.starts_with("Aggregated")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATS: &str = "
Aggregated stats:
           TOTAL events:        344
            LOST events:          1  ( 0.3%)
          SAMPLE events:        183  (53.2%)
    LOST_SAMPLES events:          2  ( 0.6%)
cpu-clock:ppp stats:
          SAMPLE events:        183
    LOST_SAMPLES events:        154
";

    #[test]
    fn samples_are_counted_and_not_the_records_that_tell_of_them() {
        assert_eq!(counted(STATS), 154);
        assert_eq!(counted("Aggregated stats:\n    LOST_SAMPLES events:   2  ( 0.6%)\n"), 0);
    }

    #[test]
    fn notes_in_the_stream_add_up() {
        let script = "   2004008 cpu-clock:ppp: \n\t  1f lost_in_space (/bin/x)\n\nPERF_RECORD_LOST lost 129\n\
                      bash 1 1.0: PERF_RECORD_LOST lost 1\n";
        assert_eq!(noted(script), 130);
    }
}
