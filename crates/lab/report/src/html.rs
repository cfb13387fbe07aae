//! A table as HTML.

use lab_stats::Verdict;
use maud::{Markup, html};

use crate::{Cell, Meaning, Table};

/// The longest name that needs no break, in characters.
const SHORT: usize = 20;

impl Table {
    pub fn html(&self) -> Markup {
        // A longer name may break anywhere.
        let is_short =
            |row: &Vec<Cell>| row.first().is_none_or(|cell| cell.text.chars().count() <= SHORT);
        let short = self.rows.iter().all(is_short).then_some("short");
        let class = |column| self.is_numeric(column).then_some("number");
        html! {
            // Scrolls, also by keyboard, if it is wider than the page.
            div class="box" tabindex="0" role="group" aria-label=(self.caption) {
                table {
                    @if !self.caption.is_empty() { caption { span { (self.caption) } } }
                    thead { tr {
                        @for (column, name) in self.head.iter().enumerate() {
                            th scope="col" class=[class(column)] { (name) }
                        }
                    } }
                    tbody { @for row in &self.rows { tr {
                        @for (column, cell) in row.iter().enumerate() {
                            @if column == 0 { th scope="row" class=[short] { (cell.html()) } }
                            @else { td class=[class(column)] { (cell.html()) } }
                        }
                    } } }
                }
            }
        }
    }
}

impl Cell {
    pub fn html(&self) -> Markup {
        let text = &self.text;
        match self.meaning {
            Meaning::Plain => html! { (text) },
            Meaning::Case => html! { a href={ "#" (text) } { (text) } },
            Meaning::Decides => html! { strong { (text) } " decides" },
            Meaning::Verdict(verdict) | Meaning::Factor(verdict) => coloured(verdict, text),
        }
    }
}

/// A verdict's colour. The word is always there, too.
fn coloured(verdict: Verdict, text: &str) -> Markup {
    let class = match verdict {
        Verdict::Faster | Verdict::SlightlyFaster => "better",
        Verdict::Slower | Verdict::SlightlySlower => "worse",
        Verdict::Undecided => "undecided",
        Verdict::Equivalent => "equivalent",
    };
    html! { strong class=(class) { (text) } }
}
