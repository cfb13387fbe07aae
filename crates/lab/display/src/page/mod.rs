//! The parts that HTML pages share: the document, tables and pictures.
//!
//! A page contains its style and needs no network, so you can keep, send and print it.

mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use table::Table;

const STYLE: &str = include_str!("style.css");

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
