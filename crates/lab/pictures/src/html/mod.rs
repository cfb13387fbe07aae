//! The parts that HTML pages share: the document, its top, its notes and its end.
//!
//! A page contains its style and needs no network, so you can keep, send and print it.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

pub fn document(title: &str, body: Markup) -> String {
    document_in("en", title, body)
}

/// A page in a language, such as `zh-CN`.
pub fn document_in(language: &str, title: &str, body: Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang=(language) {
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

/// The top of a page.
pub fn header(over: &str, title: Markup, question: Option<Markup>) -> Markup {
    html! {
        header {
            p class="case" { (over) }
            h1 { (title) }
            @if let Some(question) = question { p class="question" { (question) } }
        }
    }
}

/// Sentences that a reader has to know first. Code in them is between backticks.
pub fn note_list(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            ul class="notes" { @for note in notes { li { (with_code(note)) } } }
        }
    }
}

/// A sentence whose code is between backticks.
pub fn with_code(sentence: &str) -> Markup {
    html! {
        @for (index, part) in sentence.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// How the figures of a page were made: names with their values, and commands.
pub fn made(facts: &[(String, String)], commands: &[String]) -> Markup {
    html! {
        h2 { "How it was made" }
        dl { @for (name, value) in facts { dt { (name) } dd { (value) } } }
        pre { code { (commands.join("\n")) } }
    }
}
