//! What our pages share: a document that needs nothing but itself, its tables and its pictures.
//!
//! A page has its style in it and asks no network for anything, so it can be kept, sent and printed.

mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use table::Table;

const STYLE: &str = include_str!("style.css");

/// A whole document, with its style in it.
pub fn document(title: &str, body: Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    document.into_string()
}
