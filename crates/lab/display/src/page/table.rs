//! A table of a page; rows after the first few are folded.

use maud::{Markup, html};

use crate::NONE;

/// The number of rows that are not folded.
const SEEN: usize = 8;

/// A table whose first column names the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub caption: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The table for a terminal, without its caption.
    pub fn text(&self) -> String {
        let head: Vec<_> = self.head.iter().map(String::as_str).collect();
        crate::table(&head, self.rows.iter().cloned())
    }

    pub fn html(&self) -> Markup {
        // A single folded row would save nothing.
        let seen = if self.rows.len() > SEEN + 1 { SEEN } else { self.rows.len() };
        let (first, rest) = self.rows.split_at(seen);
        html! {
            (self.part(first, &self.caption))
            @if !rest.is_empty() {
                details {
                    summary { (rest.len()) " more rows" }
                    (self.part(rest, ""))
                }
            }
        }
    }

    fn part(&self, rows: &[Vec<String>], caption: &str) -> Markup {
        html! {
            // Scrolls, also by keyboard, if it is wider than the page.
            div class="box" tabindex="0" role="group" aria-label=(self.caption) {
                table {
                    @if !caption.is_empty() { caption { (caption) } }
                    thead { tr {
                        @for (column, name) in self.head.iter().enumerate() {
                            th scope="col" class=[self.class(column)] { (name) }
                        }
                    } }
                    tbody { @for row in rows { tr {
                        @for (column, cell) in row.iter().enumerate() {
                            @if column == 0 { th scope="row" { (cell) } }
                            @else { td class=[self.class(column)] { (cell) } }
                        }
                    } } }
                }
            }
        }
    }

    /// Columns of numbers are right-aligned.
    fn class(&self, column: usize) -> Option<&'static str> {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        (column > 0 && cells.all(|cell| is_number(cell))).then_some("number")
    }
}

/// Whether a cell is a number, with or without a sign and a unit, or empty.
fn is_number(cell: &str) -> bool {
    let unsigned = cell.trim_start_matches(['+', '-', '−', '±', '<', '≥', '≈', ' ']);
    cell.is_empty() || cell == NONE || unsigned.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize) -> Table {
        let row =
            |row: usize| vec![format!("f<{row}>"), format!("{row}.5 ms"), "2 of a kind".into()];
        let head = ["function", "time", "note"].map(str::to_owned).to_vec();
        let mut rows: Vec<_> = (0..rows).map(row).collect();
        rows[0][2] = "first".to_owned();
        Table { caption: "top".to_owned(), head, rows }
    }

    #[test]
    fn only_columns_of_numbers_are_right_aligned() {
        let html = table(2).html().into_string();
        assert!(html.contains(r#"<th scope="col" class="number">time</th>"#), "{html}");
        assert!(html.contains(r#"<th scope="col">note</th>"#), "{html}");
        assert!(html.contains(r#"<td class="number">1.5 ms</td><td>2 of a kind</td>"#), "{html}");
        assert!(html.contains(r#"<th scope="row">f&lt;0&gt;</th>"#), "{html}");
    }

    #[test]
    fn only_a_long_table_is_folded() {
        assert!(!table(9).html().into_string().contains("<details>"));
        let html = table(12).html().into_string();
        let (seen, folded) = html.split_once("<details>").unwrap();
        assert_eq!(seen.matches(r#"<th scope="row">"#).count(), 8);
        assert_eq!(folded.matches(r#"<th scope="row">"#).count(), 4);
        assert!(folded.contains("4 more rows"));
    }

    #[test]
    fn signs_and_units_are_part_of_a_number() {
        for number in ["1,120", "−12.5 %", "+3 ms", "±2.0 %", "< 1 %", "≥3.72 s", "n/a", ""] {
            assert!(is_number(number), "{number}");
        }
        assert!(!is_number("serde_json::from_slice"));
    }
}
