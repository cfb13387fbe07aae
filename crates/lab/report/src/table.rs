//! Tables of figures.

use std::collections::{BTreeMap, BTreeSet};

use console::{measure_text_width, truncate_str};
use serde::Deserialize;

use crate::{Cell, NONE, thousands};

/// The width of a narrow terminal, and what is left of each column.
const COLUMNS: usize = 80;
const MARGIN: usize = 2;
/// A shorter name says nothing.
const SHORTEST: usize = 10;

/// A table whose first column names the rows. It is made once, and shown as text, as Markdown and as HTML.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct Table {
    /// Sentences that explain the table. A terminal does not show them.
    #[serde(rename = "origin")]
    pub caption: String,
    /// The line that a terminal shows above the table.
    #[serde(skip)]
    pub lead: Option<String>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table whose cells have only text and no meaning.
    pub fn new<C: Into<String>>(
        caption: impl Into<String>,
        head: impl IntoIterator<Item = C>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let cells = |row: Vec<String>| row.into_iter().map(Cell::from).collect();
        Self::of_cells(caption, head, rows.into_iter().map(cells))
    }

    pub fn of_cells<C: Into<String>>(
        caption: impl Into<String>,
        head: impl IntoIterator<Item = C>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let head = head.into_iter().map(Into::into).collect();
        Self { caption: caption.into(), lead: None, head, rows: rows.into_iter().collect() }
    }

    pub fn columns(&self, columns: &[usize]) -> Self {
        let head = columns.iter().map(|at| self.head[*at].clone()).collect();
        let pick = |row: &Vec<Cell>| columns.iter().map(|at| row[*at].clone()).collect();
        Self {
            caption: self.caption.clone(),
            lead: self.lead.clone(),
            head,
            rows: self.rows.iter().map(pick).collect(),
        }
    }

    /// With names of at most so many characters, and cut so that the rest fits 80 columns of a terminal.
    pub fn with_short_names(mut self, longest: usize) -> Self {
        let of_rows = self.rows.iter().map(|row| row.iter().map(|cell| &*cell.text).collect());
        let head = self.head.iter().map(|name| &**name).collect();
        let mut widths = vec![0; self.head.len()];
        for row in [head].into_iter().chain(of_rows) {
            let row: Vec<&str> = row;
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = measure_text_width(cell).max(*width);
            }
        }
        let others: usize = widths.iter().skip(1).map(|width| width + MARGIN).sum();
        let room = COLUMNS.saturating_sub(MARGIN + others).clamp(SHORTEST, longest);
        for name in self.rows.iter_mut().filter_map(|row| row.first_mut()) {
            name.text = truncate_str(&name.text, room, "…").into_owned();
        }
        self
    }

    /// Columns of numbers are right-aligned.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        column > 0 && cells.all(|cell| is_number(&cell.text))
    }
}

/// The counts of servers: a row a count, and a column a server. The row of `upstream.tcp_connections` is
/// called `tcp connections`.
pub fn count_table(title: &str, servers: &[(&str, &BTreeMap<String, f64>)]) -> Table {
    let names: BTreeSet<_> = servers.iter().flat_map(|(_, counts)| counts.keys()).collect();
    let row = |name: &String| {
        let count = |(_, counts): &(&str, &BTreeMap<String, f64>)| match counts.get(name) {
            Some(count) if count.fract() == 0.0 => thousands(*count),
            Some(count) => format!("{count:.1}"),
            None => NONE.to_owned(),
        };
        let label = name.rsplit('.').next().unwrap_or(name).replace('_', " ");
        [label].into_iter().chain(servers.iter().map(count)).collect()
    };
    let head = [title].into_iter().chain(servers.iter().map(|(server, _)| *server));
    Table::new("", head, names.into_iter().map(row))
}

/// Whether a cell is a number, with or without a sign and a unit, or empty.
fn is_number(cell: &str) -> bool {
    let unsigned = cell.trim_start_matches(['+', '-', '−', '±', '<', '≤', '≥', '≈', ' ']);
    cell.is_empty() || cell == NONE || unsigned.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_columns_of_numbers_are_right_aligned() {
        let rows = [["f<0>", "0.5 ms", "first"], ["f<1>", "1.5 ms", "2 of a kind"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let table = Table::new("top", ["function", "time", "note"], rows);
        let rule = table.markdown().lines().nth(1).unwrap().to_owned();
        assert_eq!(rule, "| --- | ---: | --- |");
        let html = table.html().into_string();
        assert!(html.contains(r#"<th scope="col" class="number">time</th>"#), "{html}");
        assert!(html.contains(r#"<th scope="col">note</th>"#), "{html}");
        assert!(html.contains(r#"<td class="number">1.5 ms</td><td>2 of a kind</td>"#), "{html}");
        assert!(html.contains(r#"<th scope="row" class="short">f&lt;0&gt;</th>"#), "{html}");
    }

    #[test]
    fn signs_and_units_are_part_of_a_number() {
        for number in ["1,120", "−12.5 %", "+3 ms", "±2.0 %", "< 1 %", "≥3.72 s", "n/a", ""] {
            assert!(is_number(number), "{number}");
        }
        assert!(!is_number("serde_json::from_slice"));
    }
}
