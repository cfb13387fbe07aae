//! A comparison as a comment on a pull request: the screen of a terminal, and all the rest in a fold.

use std::fmt::Write as _;

use crate::{
    CaseRecord, Record, Table,
    candidates::{rows, tally, worst},
    notes,
    origin::{command_line, day},
    plural, reason,
    screen::{self, NoteLine},
    sentence, shortened,
    tables::metrics,
};

/// In Markdown: what a terminal shows; then in a fold why, every metric with its interval and its noise, and all
/// notes; and the command that makes the same comparison. No text of the record has a meaning in it.
pub fn comment(record: &Record) -> String {
    // CI reads the verdict from the first line.
    let mut text = format!("### `lab compare`: {}\n\n", worst(record.cases.iter()));
    match &record.cases[..] {
        [case] => {
            let answer = inert(&screen::verdict(case).concat());
            let why = screen::why(case).map_or(String::new(), |why| format!(": {}", inert(&why)));
            let _ = writeln!(text, "**{answer}**{why}.\n");
            text += &table(screen::table(case));
            let (first, _) = screen::first_notes(case);
            if !first.is_empty() {
                text.push('\n');
            }
            for NoteLine { code, text: said } in first {
                text += &bullet(code, &said);
            }
        }
        cases => {
            let tally = tally(cases).into_iter();
            let tally = tally.map(|(verdict, names)| format!("**{verdict}**: {}", inert(&names)));
            let _ = writeln!(text, "{}.\n", tally.collect::<Vec<_>>().join("; "));
            text += &table(rows(record));
        }
    }
    for (nth, case) in record.cases.iter().enumerate() {
        if text.len() > LONGEST / 2 {
            let _ = writeln!(text, "\nThe record has {} more.", record.cases.len() - nth);
            break;
        }
        let of = if record.cases.len() > 1 {
            format!(" of {}", inert(&shortened(&case.case)))
        } else {
            String::new()
        };
        fold(&mut text, case, &of);
    }
    let command = code(&command_line(&record.command));
    let machine = inert(&record.machine.to_string());
    let _ = writeln!(
        text,
        "\nMade by {command} on {machine}, {}. The code that is compared ran on that machine, so trust the \
         figures no more than that code.",
        day(record.created)
    );
    text
}

/// Every metric of a case and all of its notes.
fn fold(text: &mut String, case: &CaseRecord, of: &str) {
    let notes = notes(case);
    let more = match notes.len() {
        0 => String::new(),
        count => format!(", and {}", plural(count, "note")),
    };
    let _ = writeln!(text, "\n<details><summary>Every metric{of}{more}</summary>\n");
    let _ = writeln!(text, "{}.\n", inert(&reason(case)));
    *text += &table(metrics(case));
    text.push('\n');
    for (nth, note) in notes.iter().enumerate() {
        if text.len() > LONGEST / 2 {
            let _ = writeln!(text, "- and {} more: the record has them", notes.len() - nth);
            break;
        }
        *text += &bullet(crate::code(note), &sentence(note));
    }
    *text += "\n</details>\n";
}

/// A table, and its caption below.
fn table(mut table: Table) -> String {
    let cells = table.head.iter_mut().chain(table.rows.iter_mut().flatten());
    cells.for_each(|cell| *cell = inert(&shortened(cell)));
    format!("{}\n{}\n", table.markdown(), inert(&table.caption))
}

fn bullet(code: Option<String>, said: &str) -> String {
    let code = code.map_or(String::new(), |code| format!("`note[{code}]`: "));
    format!("- {code}{}\n", inert(said))
}

/// The longest comment, in bytes. Hosts refuse a longer one than 65,536 characters.
const LONGEST: usize = 60_000;
/// The longest text in it that is somebody else's, such as a command, in characters.
const LONGEST_TEXT: usize = 2_000;

/// A line that is no Markdown, no HTML, no link and no mention: a note may quote what the server
/// answered, and its author must not write the comment.
fn inert(text: &str) -> String {
    let mut shown = String::new();
    for symbol in on_a_line(text).chars() {
        match symbol {
            '<' => shown.push_str("&lt;"),
            '&' => shown.push_str("&amp;"),
            // A space without a width, so that nobody is notified.
            '@' | '#' => shown.extend([symbol, '\u{200b}']),
            '`' | '*' | '_' | '[' | ']' | '!' | '~' | '$' | '\\' => shown.extend(['\\', symbol]),
            _ => shown.push(symbol),
        }
    }
    // An address would become a link.
    shown.replace("://", ":\u{200b}//").replace("www.", "www\u{200b}.")
}

/// A line of code. Its marks are longer than any row of them within.
fn code(text: &str) -> String {
    let text = on_a_line(text);
    let within = text.split(|symbol| symbol != '`').map(str::len).max().unwrap_or(0);
    let space = if within > 0 { " " } else { "" };
    let mark = "`".repeat(within + 1);
    format!("{mark}{space}{text}{space}{mark}")
}

fn on_a_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LONGEST_TEXT) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_answers_cannot_write_the_comment() {
        let answer = "</details><img src=x> @org/team #1 [a](b)\n\n`c` https://d www.d";
        let expected = "&lt;/details>&lt;img src=x> @\u{200b}org/team #\u{200b}1 \\[a\\](b) \\`c\\` \
                        https:\u{200b}//d www\u{200b}.d";
        assert_eq!(inert(answer), expected);
        assert_eq!(inert("~~~ $x$"), "\\~\\~\\~ \\$x\\$");
        assert_eq!(code("a\n<b>"), "`a <b>`");
        assert_eq!(code("`a``"), "``` `a`` ```");
    }

    #[test]
    fn no_text_of_a_record_can_write_the_comment() {
        let record = include_str!("../tests/fixtures/record.json");
        let mut record: Record = serde_json::from_str(record).unwrap();
        let evil = "<img src=x>\n\n# @org";
        let case = &mut record.cases[0];
        case.reason = lab_model::Reason::Sentence(evil.to_owned());
        for text in [&mut case.load, &mut case.variants[0].variant] {
            *text = evil.to_owned();
        }
        case.variants[1].requests.first_fault = Some(evil.to_owned());
        record.machine.cpu = Some(evil.to_owned());
        record.command = vec!["lab".to_owned(), format!("`{evil}`")];
        let comment = comment(&record);
        let (text, command) =
            comment.split_once("\nMade by `` lab '`<img src=x> # @org`' `` on ").unwrap();
        assert!(!text.contains("<img") && !command.contains("<img"), "{comment}");
        assert!(!text.contains("\n# ") && !text.contains("@org"), "{comment}");
        record.command[1] = format!("\x1b[2J{}", "<x>".repeat(30_000));
        record.cases[0].variants[1].requests.first_fault = Some("&".repeat(50_000));
        let comment = super::comment(&record);
        assert!(comment.len() <= LONGEST && !comment.contains('\x1b'), "{}", comment.len());
    }
}
