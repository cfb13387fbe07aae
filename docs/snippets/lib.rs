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
    drills: "drills.md",
    idle_server: "cases/idle-server.md",
    busy_server: "cases/busy-server.md",
    from_symptom_to_suspect: "from-symptom-to-suspect.md",
    lowest_ceiling: "lowest-ceiling.md",
    slow_page: "cases/slow-page.md",
    slow_import: "cases/slow-import.md",
    late_health: "cases/late-health.md",
    order_list: "cases/order-list.md",
    steady_delay: "cases/steady-delay.md",
    your_service: "your-service.md",
    steps: "exercises/steps.md",
    tariffs: "exercises/tariffs.md",
    catalogue: "exercises/catalogue.md",
    workshop: "exercises/workshop.md",
    timesheet: "exercises/timesheet.md",
    receipts: "exercises/receipts.md",
    quotes: "exercises/quotes.md",
    shop: "exercises/shop.md",
    mystery: "mystery.md",
    cheat_sheet: "cheat-sheet.md",
    measuring: "measuring.md",
    suspects: "suspects.md",
    queues: "queues.md",
    from_dashboard_to_suspect: "from-dashboard-to-suspect.md",
    afternoon: "afternoon.md",
    idle_server_further: "cases/idle-server-further.md",
    busy_server_further: "cases/busy-server-further.md",
    slow_page_further: "cases/slow-page-further.md",
    slow_import_further: "cases/slow-import-further.md",
    late_health_further: "cases/late-health-further.md",
    order_list_further: "cases/order-list-further.md",
    steady_delay_further: "cases/steady-delay-further.md",
    measuring_further: "measuring-further.md",
    your_service_further: "your-service-further.md",
    standard_tools: "standard-tools.md",
    settings: "settings.md",
    articles: "articles.md",
    in_the_wild: "in-the-wild.md",
    method: "method.md",
    notes: "notes.md",
    engines: "engines.md",
    flame: "flame.md",
    counts: "counts.md",
    what_lab_touches: "what-lab-touches.md",
    versions: "versions.md",
    glossary: "glossary.md",
    adding_a_case: "adding-a-case.md",
    architecture: "architecture.md",
    testing_the_laboratory: "testing-the-laboratory.md",
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
        // A heading that only folds the chapters below it has no target.
        targets.filter(|target| !target.is_empty()).map(str::to_owned).collect()
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
