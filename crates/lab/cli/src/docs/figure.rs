//! Figures in prose: a number with a unit, which nobody would notice to be old.

use std::ops::Range;

/// The units, as they are written.
const UNITS: [&str; 34] = [
    "×",
    "x",
    "%",
    "percent",
    "per cent",
    "times",
    "fold",
    "ns",
    "us",
    "µs",
    "μs",
    "ms",
    "s",
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "kB",
    "MB",
    "GB",
    "KiB",
    "MiB",
    "GiB",
    "/s",
    "req/s",
    "requests/s",
    "per second",
    "a second",
    "request per second",
    "request a second",
    "requests per second",
    "requests a second",
];

/// Where the figures are in what a reader sees of a page.
pub fn figures(seen: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = seen[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at) {
        let number = number(&seen[start..]);
        from = start + number;
        // `p99` is a name, and so is `sha2`.
        let before = seen[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        if let Some(unit) = unit(&seen[from..]) {
            found.push(start..from + unit);
            from += unit;
        }
    }
    found
}

/// The length of the number at the start: `5,454`, `19.6`, `6.92–7.68`, `2-3`.
fn number(text: &str) -> usize {
    let mut length = 0;
    loop {
        length += text[length..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - length);
        let mut rest = text[length..].chars();
        let (Some(joint), Some(next)) = (rest.next(), rest.next()) else { return length };
        if !matches!(joint, '.' | ',' | '-' | '–') || !next.is_ascii_digit() {
            return length;
        }
        length += joint.len_utf8();
    }
}

/// The length of a unit at the start, with what may stand between it and its number.
fn unit(text: &str) -> Option<usize> {
    let gap = gap(text);
    let rest = &text[gap..];
    if let Some(length) = rest.starts_with("&times;").then_some("&times;".len()) {
        return Some(gap + length);
    }
    let is_whole = |unit: &str| {
        let Some(behind) = rest.strip_prefix(unit) else { return false };
        let is_word = unit.ends_with(|c: char| c.is_alphanumeric());
        let goes_on = behind.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        // `40x` is a factor; `2 x 3` is not, and neither is the `s` of a plural after a gap of `'`.
        (!is_word || !goes_on) && (unit != "x" || gap == 0)
    };
    let unit = UNITS.into_iter().filter(|unit| is_whole(unit)).max_by_key(|unit| unit.len())?;
    Some(gap + unit.len())
}

/// The length of what joins a number and its unit: a space of any kind, a hyphen, the asterisks of
/// an emphasis (which are blanks here), one end of a line, but not the end of a paragraph.
fn gap(text: &str) -> usize {
    let mut length = 0;
    let mut lines = 0;
    loop {
        let rest = &text[length..];
        let step = match rest.chars().next() {
            Some('\n') if lines == 1 => return 0,
            Some('\n') => {
                lines += 1;
                1
            }
            Some(c) if c.is_whitespace() || matches!(c, '-' | '\u{2011}') => c.len_utf8(),
            _ if rest.starts_with("&nbsp;") => "&nbsp;".len(),
            _ => return length,
        };
        length += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::markdown::visible;

    fn found(text: &str) -> Vec<String> {
        let seen = visible(text, &[]);
        figures(&seen).into_iter().map(|range| text[range].to_owned()).collect()
    }

    #[test]
    fn a_number_with_a_unit_is_a_figure() {
        for figure in [
            "280×",
            "40x",
            "7.26 ×",
            "95 %",
            "12%",
            "850 ns",
            "38 µs",
            "50 ms",
            "50\u{a0}ms",
            "2 s",
            "153 seconds",
            "5 minutes",
            "19 kB",
            "1.5 MB",
            "64 KiB",
            "5,435 req/s",
            "20/s",
            "20 requests per second",
            "3 times",
            "10-fold",
            "200-ms",
            "6.92–7.68×",
            "50\nms",
            "44 per cent",
            "3&times;",
            "5&nbsp;ms",
        ] {
            assert_eq!(found(&format!("It is {figure} or so.")), [figure], "{figure}");
        }
    }

    #[test]
    fn other_numbers_are_none() {
        let text = "In 2026 Rust 1.95 had p99 times; HTTP/2 streams; 3,000 users; case 2 sends x;\n\
                    step 4. Seconds later. 3 x 4; 0x1f; 2 timeserver; the 4 cases; 1980smith\n\n5\n\nms";
        assert_eq!(found(text), Vec::<String>::new());
    }

    #[test]
    fn code_and_targets_and_comments_hold_none() {
        let text = "`1 / 50 ms = 20 per second` and [that](5-ms.md) <!-- 3 ms -->\n\n\
                    ```text\n50 ms\n```\n\nin 2 `x` times\n";
        assert_eq!(found(text), Vec::<String>::new());
    }

    #[test]
    fn emphasis_tables_headings_and_html_hide_none() {
        assert_eq!(found("**280**×"), ["280**×"]);
        assert_eq!(found("# Gains 7×\n\n| a |\n|---|\n| 50 ms |\n"), ["7×", "50 ms"]);
        assert_eq!(found("<details><summary>It is 40x</summary>\n</details>\n"), ["40x"]);
        assert_eq!(found("[a 3 s wait](x.md)"), ["3 s"]);
    }
}
