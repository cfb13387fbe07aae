//! Makes the output of other programs safe to show in a terminal and on a page.

use anstream::adapter::strip_str;

/// How many lines of a program are shown when it fails.
const LAST_LINES: usize = 12;
/// How many columns of each are shown.
const LONGEST_LINE: usize = 200;

/// The last lines that a program printed, as the end of an error message; `None` if it printed nothing.
pub fn last_lines(printed: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(printed);
    let lines: Vec<_> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    let last: String = last.iter().map(|line| format!("\n  | {}", plain(line))).collect();
    (!last.is_empty()).then(|| format!("; its last lines:{last}"))
}

/// [`escaped`], and cut if it is long.
pub fn plain(line: &str) -> String {
    let line = escaped(line);
    match line.char_indices().nth(LONGEST_LINE) {
        None => line,
        Some(_) => line.chars().take(LONGEST_LINE - 1).chain(['…']).collect(),
    }
}

/// A line of another program, without colours, and with its control characters escaped: a terminal would
/// obey them, and a picture with one can't be read. So are those that turn the direction of writing.
pub fn escaped(line: &str) -> String {
    let turns = |character: char| matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let escape = |character: char| {
        if character.is_control() && character != '\t' || turns(character) {
            character.escape_default().to_string()
        } else {
            character.to_string()
        }
    };
    without_colours(line).chars().map(escape).collect()
}

/// A line of another program without what only a terminal reads.
pub fn without_colours(line: &str) -> String {
    strip_str(line).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_no_line_of_another_program() {
        for (line, shown) in [
            ("\x1b[32mready\x1b[0m\ton 80", "ready\ton 80"),
            ("\x1b]0;title\x07it fails\x1b[2J", "it fails"),
            ("\x1b(0q\u{9b}2J\r", "q\\u{9b}2J\\r"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("\x1b]8;;http://unfinished", ""),
        ] {
            let plain = plain(line);
            assert!(
                !plain.contains(|character: char| character.is_control() && character != '\t'),
                "{plain:?}"
            );
            assert_eq!(plain, shown);
        }
        assert_eq!(plain(&"x".repeat(9_000)).chars().count(), LONGEST_LINE);
    }
}
