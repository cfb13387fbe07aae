//! An answer in Markdown: as a comment on a pull request, with all the rest in a fold.

use std::fmt::Write as _;

use crate::{
    CaseRecord, Cell, ComparisonAnswer, Headline, NoteLine, Record, Table, notes,
    origin::{command_line, day},
    plural, reason, request_table, sentence, shortened,
    tables::metrics,
    worst,
};

/// A comment on a pull request. It begins with the text of the terminal. A fold has the reason, every metric with its
/// interval and its noise, all notes, and the command that repeats the comparison. Text of the record is escaped.
pub fn render_comment(record: &Record) -> String {
    // CI reads the verdict from the first line.
    let mut text = format!("### `lab compare`: {}\n\n", worst(record.cases.iter()));
    let answer = ComparisonAnswer::of(record);
    text += &first(&answer);
    for besides in &answer.besides {
        if text.len() > LONGEST / 2 {
            break;
        }
        let summary = inert(&besides.summary());
        let _ = writeln!(text, "\n<details><summary>{summary}</summary>\n");
        text += &table(shortest(&besides.table));
        text += "\n</details>\n";
    }
    for (nth, case) in record.cases.iter().enumerate() {
        if text.len() > LONGEST / 2 {
            let _ = writeln!(text, "\nThe record has {} more.", record.cases.len() - nth);
            break;
        }
        let of = if record.cases.len() > 1 {
            format!(" of {}", inert(&shortened(case.case.as_str())))
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

/// The headline, the table and the first notes.
fn first(answer: &ComparisonAnswer) -> String {
    let mut text = match &answer.headline {
        headline @ Headline::Case { .. } => {
            let undecided = answer.reasons.iter().find(|reason| !reason.is_decided());
            let why = undecided
                .map_or(String::new(), |verdict| format!(": {}", inert(&verdict.sentence)));
            format!("**{}**{why}.\n\n", inert(&headline.text()))
        }
        Headline::Candidates(groups) | Headline::Cases { groups, .. } => {
            let mut all = Vec::new();
            for group in groups {
                all.push(format!("**{}**: {}", group.verdict, inert(&group.in_words())));
            }
            format!("{}.\n\n", all.join("; "))
        }
    };
    text += &table(answer.table.clone());
    for besides in &answer.besides {
        let _ = writeln!(text, "\n{}.", inert(&besides.line));
    }
    // Each of several has its notes in its fold.
    if matches!(answer.headline, Headline::Case { .. }) && !answer.notes.lines.is_empty() {
        text.push('\n');
        for NoteLine { code, text: said } in &answer.notes.lines {
            text += &bullet(code.as_deref(), said);
        }
    }
    text
}

/// A table with no more rows than a comment has room for.
fn shortest(table: &Table) -> Table {
    let (mut table, mut length) = (table.clone(), 0);
    let fits = |row: &&Vec<Cell>| {
        length += row.iter().map(|cell| inert(&shortened(&cell.text)).len()).sum::<usize>();
        length <= LONGEST_ROWS
    };
    let count = table.rows.iter().take_while(fits).count();
    let rest = table.rows.len() - count;
    if rest > 0 {
        table.rows.truncate(count);
        table.caption += &format!(" The record has {rest} more.");
    }
    table
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
    if !case.requests.is_empty() {
        *text += &table(request_table::all(case));
        text.push('\n');
        let alone = request_table::alone(case);
        if !alone.rows.is_empty() {
            *text += &table(alone);
            text.push('\n');
        }
    }
    for (nth, note) in notes.iter().enumerate() {
        if text.len() > LONGEST / 2 {
            let _ = writeln!(text, "- and {} more: the record has them", notes.len() - nth);
            break;
        }
        *text += &bullet(crate::code(note).as_deref(), &sentence(note));
    }
    *text += "\n</details>\n";
}

/// A table, and its caption below.
fn table(mut table: Table) -> String {
    for name in &mut table.head {
        *name = inert(&shortened(name));
    }
    for cell in table.rows.iter_mut().flatten() {
        cell.text = inert(&shortened(&cell.text));
    }
    format!("{}\n{}\n", table.markdown(), inert(&table.caption))
}

impl Table {
    /// The table in Markdown, without its caption.
    pub fn markdown(&self) -> String {
        fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
            let cells: Vec<_> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        }
        fn text(cell: &Cell) -> &str {
            &cell.text
        }
        let rule = |column| if self.is_numeric(column) { "---:" } else { "---" };
        let mut lines = line(self.head.iter().map(String::as_str));
        lines += &line((0..self.head.len()).map(rule));
        for row in &self.rows {
            lines += &line(row.iter().map(text));
        }
        lines
    }
}

fn bullet(code: Option<&str>, said: &str) -> String {
    let code = code.map_or(String::new(), |code| format!("`note[{code}]`: "));
    format!("- {code}{}\n", inert(said))
}

/// The longest comment, in bytes. Hosts refuse a longer one than 65,536 characters.
const LONGEST: usize = 60_000;
/// The longest rows of a table of differences besides the code, in bytes.
const LONGEST_ROWS: usize = 12_000;
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
        case.reason = lab_protocol::Reason::NotMeasured { why: evil.to_owned() };
        for text in [&mut case.load, &mut case.variants[0].variant] {
            *text = evil.to_owned();
        }
        case.variants[1].requests.first_fault = Some(evil.to_owned());
        record.machine.cpu = Some(evil.to_owned());
        record.command = vec!["lab".to_owned(), format!("`{evil}`")];
        let comment = render_comment(&record);
        let (text, command) =
            comment.split_once("\nMade by `` lab '`<img src=x> # @org`' `` on ").unwrap();
        assert!(!text.contains("<img") && !command.contains("<img"), "{comment}");
        assert!(!text.contains("\n# ") && !text.contains("@org"), "{comment}");
        record.command[1] = format!("\x1b[2J{}", "<x>".repeat(30_000));
        record.cases[0].variants[1].requests.first_fault = Some("&".repeat(50_000));
        let comment = render_comment(&record);
        assert!(comment.len() <= LONGEST && !comment.contains('\x1b'), "{}", comment.len());
    }
}
