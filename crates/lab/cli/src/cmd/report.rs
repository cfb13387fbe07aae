//! `lab report`: a run as one HTML file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;

use super::Places;
use crate::{
    bench::Record,
    display, files,
    report::{self, About},
    store::{Store, read},
    workspace::Workspace,
};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The run: a file, the start of its name, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
    /// Write the page to this file, instead of `report.html` next to the runs
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let results = places.results()?;
    let record = read(&Store::new(&results).find(&options.run)?)?;
    let workspace = places.workspace().ok();
    let path = options.output.clone().unwrap_or_else(|| page(&results));
    write(workspace.as_ref(), &results, &record, &path)?;
    out!("  Report     {}", display::path(&path));
    if options.open {
        opener::open(&path).with_context(|| {
            format!("no browser could be started; open {} yourself", path.display())
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The default path of the page.
pub fn page(results: &Path) -> PathBuf {
    results.join("report.html")
}

/// Writes the page of a record. Titles and questions come from the workspace, if it has the case.
pub fn write(
    workspace: Option<&Workspace>,
    results: &Path,
    record: &Record,
    path: &Path,
) -> anyhow::Result<()> {
    let cases = workspace.and_then(|workspace| workspace.cases().ok()).unwrap_or_default();
    let path = std::path::absolute(path).context("cannot read the current directory")?;
    let dir = path.parent().context("a file has a directory")?;
    let about = record.cases.iter().map(|record| {
        let case = cases.iter().find(|case| case.name == record.case);
        let flame = results.join("flame").join(&record.case).join("index.html");
        let about = About {
            title: case.map(|case| case.title.clone()),
            question: case.map(|case| case.question.clone()),
            flame: flame.is_file().then(|| link(dir, &flame)),
        };
        (record.case.clone(), about)
    });
    let about: BTreeMap<_, _> = about.collect();
    files::write_whole(&path, &report::html(record, &about)?)
}

/// A relative link from a page in `dir` to a file.
fn link(dir: &Path, file: &Path) -> String {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let shared = dir.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = dir.components().skip(shared).map(|_| "..".to_owned());
    let down = file.components().skip(shared);
    let down = down.map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_to_the_page() {
        let flame = Path::new("/w/target/lab/flame/toy/index.html");
        assert_eq!(link(Path::new("/w/target/lab"), flame), "flame/toy/index.html");
        assert_eq!(link(Path::new("/w/site"), flame), "../target/lab/flame/toy/index.html");
    }
}
