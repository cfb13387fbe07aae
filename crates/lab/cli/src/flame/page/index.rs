//! The page that leads to the cases' pages.

use maud::html;

use super::{Page, document};

/// A list of the cases with their questions, for a file in the directory above theirs.
pub fn index(pages: &[Page]) -> String {
    let body = html! {
        header {
            h1 { "Where the time went" }
            p class="question" { "Each page shows a fault in a running server, and what the fix removed." }
        }
        ul class="cases" {
            @for page in pages {
                li {
                    h2 { a href={ (page.case) "/index.html" } { (page.title) } }
                    p { (page.question) }
                    @if let Some(section) = page.sections.first() { p class="case" { (section.lead) } }
                }
            }
        }
    };
    document("Where the time went", body)
}
