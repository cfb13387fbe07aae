//! A table of a page: the first rows are seen, and the rest unfolds.

use maud::{Markup, html};

use crate::NONE;

/// How many rows are seen at once.
const SEEN: usize = 5;

/// Rows with a heading; the first column names the row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the table tells.
    pub caption: String,
    /// The columns' names.
    pub head: Vec<String>,
    /// A cell a column; numbers stand to the right.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The table, and a box that scrolls if it is wider than the page.
    pub fn html(&self) -> Markup {
        // A single row more is as well shown as announced.
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
            // It scrolls on its own where it is wider than the page, by keyboard too.
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

    /// How a column is shown: numbers to the right, so that their digits stand below each other.
    fn class(&self, column: usize) -> Option<&'static str> {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        (column > 0 && cells.all(|cell| is_number(cell))).then_some("number")
    }
}

/// Whether a cell is a number, with a sign before it or a unit behind, or stands for none.
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
    fn columns_of_numbers_stand_to_the_right_and_others_do_not() {
        let html = table(2).html().into_string();
        assert!(html.contains(r#"<th scope="col" class="number">time</th>"#), "{html}");
        assert!(html.contains(r#"<th scope="col">note</th>"#), "{html}");
        assert!(html.contains(r#"<td class="number">1.5 ms</td><td>2 of a kind</td>"#), "{html}");
        assert!(html.contains(r#"<th scope="row">f&lt;0&gt;</th>"#), "{html}");
    }

    #[test]
    fn a_long_table_is_folded_and_a_short_one_is_not() {
        assert!(!table(6).html().into_string().contains("<details>"));
        let html = table(9).html().into_string();
        let (seen, folded) = html.split_once("<details>").unwrap();
        assert_eq!(seen.matches(r#"<th scope="row">"#).count(), 5);
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
