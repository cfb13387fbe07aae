//! All results on one page: of each case its newest figures and its flame graphs, and where the rest is.
//!
//! `bench` and `flame` both write the whole page from the files in the results' directory, so neither has to know the
//! other. New counts and Criterion's new figures appear with their next run.

mod page;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use lab_cases::{Case, FIXED, Reference, SLOW, Workspace, criterion};
use lab_report::{CaseRecord, Store, origin::relative};
use lab_system::{Machine, write_whole};

/// How many of the newest records are read. Without a limit, each run would take longer than the one before for somebody
/// who never measures one of the cases.
const RECORDS: usize = 200;

/// Where the page will be, and where it finds what it shows.
#[derive(Clone, Debug)]
pub struct ResultPlaces {
    pub page: PathBuf,
    /// Records, the oldest first. One that this `lab` cannot read counts as missing.
    pub records: Vec<PathBuf>,
    /// Directories of flame graphs, the oldest first.
    pub flame: Vec<PathBuf>,
    /// Criterion's directory. Without one, the page leaves Criterion out.
    pub criterion: Option<PathBuf>,
    /// Below it are the chapters and the benches.
    pub root: PathBuf,
    /// What the files of chapters end with: `md`, or `html` on a site.
    pub chapters: &'static str,
}

impl ResultPlaces {
    /// What was measured in a workspace.
    ///
    /// # Errors
    ///
    /// If the directory of the records cannot be read.
    pub fn of_workspace(workspace: &Workspace) -> anyhow::Result<Self> {
        let results = workspace.results();
        Ok(Self {
            page: results.join("index.html"),
            records: Store::new(&results).paths()?,
            flame: vec![results.join("flame")],
            criterion: Some(workspace.criterion()),
            root: workspace.root().to_owned(),
            chapters: "md",
        })
    }
}

/// Writes the page of all cases of a workspace.
///
/// # Errors
///
/// If a case cannot be read, or the page cannot be written.
pub fn write(workspace: &Workspace, places: &ResultPlaces) -> anyhow::Result<()> {
    let absolute = |path: &PathBuf| std::path::absolute(path);
    let places = ResultPlaces {
        page: absolute(&places.page)?,
        flame: places.flame.iter().map(absolute).collect::<Result<_, _>>()?,
        criterion: places.criterion.as_ref().map(absolute).transpose()?,
        root: absolute(&places.root)?,
        ..places.clone()
    };
    let cases = workspace.cases()?;
    let mut newest = newest(&cases, &places.records);
    let mut results = Vec::new();
    for case in cases {
        let counts = workspace.counts(&case)?;
        let measured = newest.remove(&case.name);
        results.push(CaseResult::find(case, measured, &counts, &places));
    }
    let report = places.page.with_file_name("report.html");
    let criterion = places.criterion.as_ref().map(|dir| dir.join("report/index.html"));
    let more = MorePages {
        report: places.link(&report),
        criterion: criterion.and_then(|report| places.link(&report)),
    };
    write_whole(&places.page, &page::html(&results, &more))
}

/// What is on no case's own page. Links, if the pages exist.
struct MorePages {
    report: Option<String>,
    criterion: Option<String>,
}

/// Everything that the page shows of a case.
struct CaseResult {
    case: Case,
    measured: Option<NewestComparison>,
    /// Exact counts of a visit to each server.
    counts: [BTreeMap<String, f64>; 2],
    /// The page of its flame graphs, if there is one.
    flame: Option<String>,
    /// The server, and the file of its graph.
    graphs: Vec<(&'static str, String)>,
    micro: Option<Micro>,
    chapter: Option<String>,
}

/// A comparison, and when and where it was made.
struct NewestComparison {
    record: CaseRecord,
    created: Timestamp,
    machine: Machine,
    is_quick: bool,
    is_debug: bool,
}

/// What Criterion found of a case.
struct Micro {
    factor: Option<f64>,
    report: Option<String>,
    /// The name of its bench, if it has one.
    bench: Option<String>,
}

/// The newest comparison of each case, by its name.
fn newest(cases: &[Case], records: &[PathBuf]) -> BTreeMap<String, NewestComparison> {
    let mut found = BTreeMap::new();
    for path in records.iter().rev().take(RECORDS) {
        if found.len() == cases.len() {
            break;
        }
        let Ok(record) = lab_report::read(path) else { continue };
        if record.is_of_own_servers() {
            continue;
        }
        for case in &record.cases {
            let name = case.case.as_str();
            if cases.iter().any(|known| known.name == name) && !found.contains_key(name) {
                let measured = NewestComparison {
                    record: case.clone(),
                    created: record.created,
                    machine: record.machine.clone(),
                    is_quick: record.quick,
                    is_debug: record.build.profile == "debug",
                };
                found.insert(name.to_owned(), measured);
            }
        }
    }
    found
}

impl CaseResult {
    fn find(
        case: Case,
        measured: Option<NewestComparison>,
        reference: &Reference,
        places: &ResultPlaces,
    ) -> Self {
        let counts = [SLOW, FIXED].map(|variant| {
            let of_record = measured.as_ref().and_then(|found| found.record.variant(variant));
            match of_record {
                Some(found) if !found.exact.is_empty() => found.exact.clone(),
                _ => reference.of(variant).into_iter().map(|(name, n)| (name, n as f64)).collect(),
            }
        });
        let pictures = places.flame.iter().rev().map(|dir| dir.join(&case.name));
        let (mut flame, mut graphs) = (None, Vec::new());
        if let Some(dir) = pictures.into_iter().find(|dir| dir.is_dir()) {
            flame = places.link(&dir.join("index.html"));
            for server in [SLOW, FIXED] {
                // The standard graph, or ours where it could not be drawn or is not published.
                let files = [format!("{server}.raw.svg"), format!("{server}.svg")];
                let graph = files.iter().find_map(|file| places.link(&dir.join(file)));
                graphs.extend(graph.map(|graph| (server, graph)));
            }
        }
        let micro = places.criterion.as_ref().map(|dir| Micro::find(&case.name, dir, places));
        let chapter = places.root.join(case.page()).with_extension(places.chapters);
        let chapter = places.link(&chapter);
        Self { case, measured, counts, flame, graphs, micro, chapter }
    }
}

impl Micro {
    fn find(case: &str, criterion: &Path, places: &ResultPlaces) -> Self {
        let bench = case.replace('-', "_");
        let has_bench = places.root.join("benches/micro").join(format!("{bench}.rs")).is_file();
        Self {
            factor: criterion::speedup(criterion, case, SLOW, FIXED),
            report: places.link(&criterion.join(case).join("report/index.html")),
            bench: has_bench.then_some(bench),
        }
    }
}

impl ResultPlaces {
    /// The address of a file for a link of the page, if the file exists.
    fn link(&self, file: &Path) -> Option<String> {
        let dir = self.page.parent()?;
        file.is_file().then(|| address(&relative(dir, file)))
    }
}

/// A relative path as an address.
fn address(path: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const KEPT: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');
    utf8_percent_encode(path, KEPT).to_string()
}
