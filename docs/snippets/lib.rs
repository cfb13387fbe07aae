//! The Rust in the course's chapters, as doc tests: `cargo test` compiles and runs each snippet.
//!
//! Excerpts of source files are compiled where they come from, so their fences say `rust,ignore`.

/// Lists the chapters, for the doc tests and for the test that compares the list with the book.
macro_rules! chapters {
    ($($name:ident: $file:literal,)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!(concat!("../src/", $file))]
            mod $name {}
        )*

        #[cfg(test)]
        const CHAPTERS: &[&str] = &[$($file),*];
    };
}

chapters! {
    start_here: "README.md",
    primer: "primer.md",
    lock_scope: "cases/lock-scope.md",
    hot_clone: "cases/hot-clone.md",
    per_request_client: "cases/per-request-client.md",
    double_parse: "cases/double-parse.md",
    blocked_worker: "cases/blocked-worker.md",
    query_per_row: "cases/query-per-row.md",
    presence: "exercises/presence.md",
    tariffs: "exercises/tariffs.md",
    receipts: "exercises/receipts.md",
    catalogue: "exercises/catalogue.md",
    timesheet: "exercises/timesheet.md",
    quotes: "exercises/quotes.md",
    mystery: "mystery.md",
    measuring: "measuring.md",
    your_service: "your-service.md",
    cheat_sheet: "cheat-sheet.md",
    lock_scope_further: "cases/lock-scope-further.md",
    hot_clone_further: "cases/hot-clone-further.md",
    per_request_client_further: "cases/per-request-client-further.md",
    double_parse_further: "cases/double-parse-further.md",
    blocked_worker_further: "cases/blocked-worker-further.md",
    query_per_row_further: "cases/query-per-row-further.md",
    your_service_further: "your-service-further.md",
    standard_tools: "standard-tools.md",
    articles: "articles.md",
    in_the_wild: "in-the-wild.md",
    method: "method.md",
    engines: "engines.md",
    flame: "flame.md",
    counts: "counts.md",
    glossary: "glossary.md",
    adding_a_case: "adding-a-case.md",
    architecture: "architecture.md",
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::{Path, PathBuf},
    };

    use super::CHAPTERS;

    fn source() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")
    }

    /// The targets of the links in the table of contents, in their order.
    fn contents() -> Vec<String> {
        let summary = fs::read_to_string(source().join("SUMMARY.md")).unwrap();
        let targets = summary.lines().filter_map(|line| line.split_once("](")?.1.strip_suffix(')'));
        targets.map(str::to_owned).collect()
    }

    /// All Markdown files below `dir`, as paths below the book's source.
    fn pages_in(dir: &Path) -> Vec<String> {
        let mut pages = Vec::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pages.extend(pages_in(&path));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let page = path.strip_prefix(source()).unwrap();
                pages.push(page.to_str().unwrap().replace('\\', "/"));
            }
        }
        pages
    }

    #[test]
    fn the_snippets_of_every_chapter_are_tested() {
        assert_eq!(CHAPTERS, contents(), "docs/snippets/lib.rs lists what SUMMARY.md lists");
    }

    #[test]
    fn every_page_is_in_the_table_of_contents() {
        let mut listed = contents();
        listed.push("SUMMARY.md".to_owned());
        listed.sort();
        let mut pages = pages_in(&source());
        pages.sort();
        assert_eq!(pages, listed, "the files in docs/src are those that SUMMARY.md lists");
    }
}
