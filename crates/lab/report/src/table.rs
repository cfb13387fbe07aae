//! Tables of figures: as text, as Markdown and as HTML.

use std::collections::{BTreeMap, BTreeSet};

use comfy_table::{CellAlignment, presets};
use maud::{Markup, html};
use serde::Deserialize;

use crate::{NONE, shortened, thousands};

/// The longest name that needs no break, in characters.
const SHORT: usize = 20;

/// A table whose first column names the rows. It is made once, and shown in several forms.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct Table {
    /// What a reader has to know of it, in sentences. A terminal does not show it.
    #[serde(rename = "origin")]
    pub caption: String,
    /// What a terminal shows above it.
    #[serde(skip)]
    pub lead: Option<String>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<C: Into<String>>(
        caption: impl Into<String>,
        head: impl IntoIterator<Item = C>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let head = head.into_iter().map(Into::into).collect();
        Self { caption: caption.into(), lead: None, head, rows: rows.into_iter().collect() }
    }

    pub fn columns(&self, columns: &[usize]) -> Self {
        let pick = |row: &Vec<String>| columns.iter().map(|at| row[*at].clone()).collect();
        Self {
            caption: self.caption.clone(),
            lead: self.lead.clone(),
            head: pick(&self.head),
            rows: self.rows.iter().map(pick).collect(),
        }
    }

    /// Aligned, without lines, and without the middle of a long name: the first column is left-aligned, the others right-aligned.
    pub fn text(&self) -> String {
        let mut table = comfy_table::Table::new();
        let short = |row: &Vec<String>| row.iter().map(|cell| shortened(cell)).collect::<Vec<_>>();
        let rows = self.rows.iter().map(short);
        table.load_style(presets::NOTHING).set_header(short(&self.head)).add_rows(rows);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if index == 0 { 2 } else { 1 }, 1));
            if index > 0 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lead = self.lead.as_ref().map_or(String::new(), |lead| format!("  {lead}\n"));
        lead + &table.trim_fmt()
    }

    /// Without its caption.
    pub fn markdown(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = |column| if self.is_numeric(column) { "---:" } else { "---" }.to_owned();
        let rule = line(&(0..self.head.len()).map(rule).collect());
        line(&self.head) + &rule + &self.rows.iter().map(line).collect::<String>()
    }

    pub fn html(&self) -> Markup {
        self.html_with(|_, _| None)
    }

    /// With this in the cells of these rows and columns, where there is something.
    pub fn html_with(&self, shown: impl Fn(usize, usize) -> Option<Markup>) -> Markup {
        // A longer name may break anywhere.
        let is_short = |row: &Vec<String>| row.first().is_none_or(|it| it.chars().count() <= SHORT);
        let short = self.rows.iter().all(is_short).then_some("short");
        let cell = |row, column, text: &str| shown(row, column).unwrap_or_else(|| html! { (text) });
        html! {
            // Scrolls, also by keyboard, if it is wider than the page.
            div class="box" tabindex="0" role="group" aria-label=(self.caption) {
                table {
                    @if !self.caption.is_empty() { caption { span { (self.caption) } } }
                    thead { tr {
                        @for (column, name) in self.head.iter().enumerate() {
                            th scope="col" class=[self.class(column)] { (name) }
                        }
                    } }
                    tbody { @for (nth, row) in self.rows.iter().enumerate() { tr {
                        @for (column, text) in row.iter().enumerate() {
                            @let shown = cell(nth, column, text);
                            @if column == 0 { th scope="row" class=[short] { (shown) } }
                            @else { td class=[self.class(column)] { (shown) } }
                        }
                    } } }
                }
            }
        }
    }

    fn class(&self, column: usize) -> Option<&'static str> {
        self.is_numeric(column).then_some("number")
    }

    /// Columns of numbers are right-aligned.
    fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        column > 0 && cells.all(|cell| is_number(cell))
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
