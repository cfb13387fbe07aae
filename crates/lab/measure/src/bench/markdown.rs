//! A comparison as a comment on a pull request.

use std::fmt::Write as _;

use lab_display::plural;
use lab_model::{CaseRecord, Record, notes, origin::origin, tables::metrics};

/// In Markdown: the verdict, every metric with its interval and its noise, the notes, and the command
/// that makes the same comparison.
pub fn markdown(record: &Record, case: &CaseRecord) -> String {
    let mut text = format!("### `lab compare`: {}\n\n{}.\n\n", case.verdict, case.reason);
    let metrics = metrics(case);
    text += &metrics.markdown();
    let pairs = plural(case.pairs, "pair");
    let _ = writeln!(text, "\n{pairs} of runs: {}. {}", case.load, metrics.caption);
    let notes = notes(case);
    if !notes.is_empty() {
        let _ = writeln!(text, "\n<details><summary>{}</summary>\n", plural(notes.len(), "note"));
        for note in notes {
            let _ = writeln!(text, "- {}", inert(&note));
        }
        text += "\n</details>\n";
    }
    let origin = origin(&record.command, &record.machine, record.created);
    let _ = writeln!(text, "\nMade by {origin}.");
    text
}

/// A text that is no Markdown, no HTML and no mention: a note may quote what the server answered, and
/// its author must not write the comment.
fn inert(text: &str) -> String {
    let mut shown = String::new();
    for symbol in text.chars() {
        match symbol {
            '<' => shown.push_str("&lt;"),
            '&' => shown.push_str("&amp;"),
            // A space without a width, so that nobody is notified.
            '@' => shown.push_str("@\u{200b}"),
            '`' | '*' | '_' | '[' | ']' | '!' | '#' | '|' | '\\' => shown.extend(['\\', symbol]),
            _ => shown.push(symbol),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_answers_cannot_write_the_comment() {
        let answer = "</details><img src=x> @org/team [a](b) `c`";
        let expected = "&lt;/details>&lt;img src=x> @\u{200b}org/team \\[a\\](b) \\`c\\`";
        assert_eq!(inert(answer), expected);
    }

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
            "interval, from pairs of runs. Above 1× fixed is better.",
            "</summary>\n\n- ",
            "\nMade by `lab compare --get '/a b'` on ",
        ] {
            assert!(comment.contains(part), "{part}: {comment}");
        }
    }
}
