//! A comparison as a comment on a pull request.

use std::fmt::Write as _;

use lab_display::plural;
use lab_model::{CaseRecord, Record, confidence, metric_rows, notes};

/// In Markdown: the verdict, every metric with its interval and its noise, the notes, and the command
/// that makes the same comparison.
pub fn markdown(record: &Record, case: &CaseRecord) -> String {
    let mut text = format!("### `lab compare`: {}\n\n{}.\n\n", case.verdict, case.reason);
    text += "| metric | candidate against baseline | baseline against itself | shows |\n";
    text += "| --- | ---: | ---: | --- |\n";
    for row in metric_rows(case) {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    let interval = confidence([case]).map_or(String::new(), |confidence| {
        format!(" The brackets show a {confidence} interval; above 1× the candidate is better.")
    });
    let _ = writeln!(text, "\n{} of runs: {}.{interval}", plural(case.pairs, "pair"), case.load);
    let notes = notes(case);
    if !notes.is_empty() {
        let _ = writeln!(text, "\n<details><summary>{}</summary>\n", plural(notes.len(), "note"));
        for note in notes {
            let _ = writeln!(text, "- {note}");
        }
        text += "\n</details>\n";
    }
    let origin = lab_model::words::origin(&record.command, &record.machine, record.created);
    let _ = writeln!(text, "\nMade by {origin}.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_has_the_verdict_the_metrics_the_notes_and_the_command() {
        let record = include_str!("../../../course/tests/fixtures/record.json");
        let mut record: Record = serde_json::from_str(record).unwrap();
        record.command = ["/bin/lab", "compare", "--get", "/a b"].map(str::to_owned).to_vec();
        record.cases[0].promised_throughput = Some(100.0);
        let comment = markdown(&record, &record.cases[0]);
        for part in [
            "### `lab compare`: faster\n",
            "| throughput (decides) | ",
            "interval; above 1× the candidate is better.",
            "</summary>\n\n- ",
            "\nMade by `lab compare --get '/a b'` on ",
        ] {
            assert!(comment.contains(part), "{part}: {comment}");
        }
    }
}
