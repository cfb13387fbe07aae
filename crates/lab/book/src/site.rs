//! The results that the book quotes as one page of the site, next to the book.

use std::path::PathBuf;

use anyhow::ensure;
use lab_cases::Workspace;
use lab_pictures::all_results::{self, ResultPlaces};

use crate::{book::newest, publish::RECORDS};

/// Where `docs/book.sh` builds the site, below the workspace.
const SITE: &str = "target/book";

/// Writes the page of all published results into the site; returns its path.
///
/// # Errors
///
/// If the site is not built, a record cannot be read, or the page cannot be written.
pub fn write_results(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let site = workspace.root().join(SITE);
    ensure!(site.join(RECORDS).is_dir(), "{} is missing: `just book` builds it", site.display());
    // From the site's own copy, which its links lead to.
    let (whole, single) = newest(&site.join(RECORDS));
    let mut records = Vec::new();
    for dir in whole.ok().into_iter().chain(single) {
        let record = lab_report::read(&dir.join("record.json"))?;
        records.push((record.created, dir));
    }
    records.sort();
    let dirs = || records.iter().map(|(_, dir)| dir);
    let places = ResultPlaces {
        page: site.join("results.html"),
        records: dirs().map(|dir| dir.join("record.json")).collect(),
        flame: dirs().map(|dir| dir.join("flame")).collect(),
        // Of Criterion, a record has only alternatives and sweeps, which the chapters show.
        criterion: None,
        root: site.clone(),
        chapters: "html",
    };
    all_results::write(workspace, &places)?;
    Ok(places.page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, record};

    #[test]
    fn the_page_of_the_site_links_its_own_copies() {
        let fixture = Fixture::new();
        let error = write_results(&fixture.workspace()).unwrap_err().to_string();
        assert!(error.ends_with("target/book is missing: `just book` builds it"), "{error}");
        let dir = "target/book/docs/record/2026-11-21-a";
        fixture.write(&format!("{dir}/record.json"), &record(280.0).to_string());
        fixture.write(&format!("{dir}/flame/toy/slow.svg"), "<svg/>");
        fixture.write("target/book/docs/src/cases/toy.html", "");
        let page = write_results(&fixture.workspace()).unwrap();
        assert_eq!(page, fixture.path().join("target/book/results.html"));
        let html = std::fs::read_to_string(page).unwrap();
        for part in [
            "280×",
            "<a href=\"docs/src/cases/toy.html\">",
            "<a href=\"docs/record/2026-11-21-a/flame/toy/slow.svg\">",
            "2026-11-21",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("Criterion"), "{html}");
    }
}
