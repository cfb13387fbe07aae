//! `lab-book docs`: splices figures and excerpts into the course, or reports what is stale.
//!
//! The pages go through five passes, a function each: [`relink`], [`splice`], [`age`], [`translate`], and [`check`] or
//! [`write()`].

use std::{collections::BTreeSet, fs, path::PathBuf, process::ExitCode};

use lab_cases::Workspace;
use lab_system::{out, write_whole};

use crate::book::{self, Book, CHAPTERS, Page, Problem, Spliced};

#[derive(Debug, clap::Args)]
#[command(after_help = book::help())]
pub struct Options {
    /// Change nothing; fail if a marker is stale, a link is broken or a line is too long
    #[arg(long)]
    pub check: bool,
    /// Print what a marker with this expression would hold
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "check")]
    pub eval: Option<String>,
    /// Write into a Chinese page, or into a file of what `lab` says, that it translates the English as it is today
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["check", "eval"])]
    pub translated: Vec<String>,
}

/// Problems and notes that the passes found.
#[derive(Debug, Default)]
struct Findings {
    /// Problems that make `just docs` fail.
    problems: Vec<Problem>,
    /// Work that can wait, such as a translation that is out of date.
    notes: BTreeSet<String>,
}

/// A picture as it should be.
#[derive(Debug)]
struct PagePicture {
    /// The path below the workspace.
    name: String,
    path: PathBuf,
    svg: String,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let book = Book::of(workspace)?;
    if let Some(expression) = &options.eval {
        out!("{}", book.eval(expression, &book.root.join(CHAPTERS))?);
        return Ok(ExitCode::SUCCESS);
    }
    for name in &options.translated {
        let english = match book::translated_texts::translated(workspace, name)? {
            Some(texts) => texts,
            None => book::translated(&book.root, name)?,
        };
        out!("{name}: translates {english}");
    }
    let old = book::pages(&book.root)?;
    let mut found = Findings::default();
    let linked = relink(&old, &book);
    let spliced = splice(&linked, &book, &mut found);
    age(&linked, workspace, &book, &mut found)?;
    let mut pictures = charts(&spliced, &book);
    pictures.extend(translate(&old, &book, &mut found)?);
    if options.check {
        check(&old, &linked, &spliced, &pictures, &book, &mut found);
    } else {
        write(&old, &spliced, &pictures)?;
    }
    let markers = spliced.iter().map(|page| page.markers).sum();
    report(found, old.len(), markers)
}

/// The first pass: the links of the Chinese pages lead to Chinese ones.
fn relink(old: &[Page], book: &Book) -> Vec<Page> {
    old.iter().map(|page| book::relinked(page, &book.root)).collect()
}

/// The second pass: the markers are filled.
fn splice(linked: &[Page], book: &Book, found: &mut Findings) -> Vec<Spliced> {
    let mut all = Vec::new();
    for page in linked {
        let spliced = book::splice(page, book);
        found.problems.extend(spliced.faults.iter().cloned());
        for word in &spliced.untranslated {
            let where_to = "translate it in its marker, or in docs/zh-CN/words.toml";
            found.notes.insert(format!("{}: `{word}` is English: {where_to}", page.name));
        }
        all.push(spliced);
    }
    all
}

/// The third pass: which Chinese texts are older than the English ones.
fn age(
    linked: &[Page],
    workspace: &Workspace,
    book: &Book,
    found: &mut Findings,
) -> anyhow::Result<()> {
    found.notes.extend(book::translated_texts::notes(workspace)?);
    for page in linked {
        match book::age(page, &book.root) {
            Some(Ok(note)) => drop(found.notes.insert(note.to_string())),
            Some(Err(problem)) => found.problems.push(problem),
            None => {}
        }
    }
    Ok(())
}

/// The charts that a page shows.
fn charts(spliced: &[Spliced], book: &Book) -> Vec<PagePicture> {
    let mut shown = Vec::new();
    for (name, chart) in &book.charts {
        // A page at the top of the chapters has no `/` before it.
        let target = name.trim_start_matches(CHAPTERS).trim_start_matches('/');
        if spliced.iter().any(|page| page.text.contains(target)) {
            let (path, svg) = (book.root.join(name), chart.svg.clone());
            shown.push(PagePicture { name: name.clone(), path, svg });
        }
    }
    shown
}

/// The fourth pass: the pictures of the Chinese pages in Chinese, and the words of the screen that have no
/// explanation.
fn translate(old: &[Page], book: &Book, found: &mut Findings) -> anyhow::Result<Vec<PagePicture>> {
    let mut pictures = Vec::new();
    for both in book::pictures(&book.root, old)? {
        let (svg, untranslated) = book.words.picture(&fs::read_to_string(&both.english)?);
        let name = lab_report::origin::relative(&book.root, &both.chinese);
        for words in untranslated {
            found.notes.insert(format!(
                "{name}: `{words}` is English: translate it in docs/zh-CN/words.toml, [pictures]"
            ));
        }
        pictures.push(PagePicture { name, path: both.chinese, svg });
    }
    for word in book::unexplained(&book.root)? {
        found.notes.insert(format!(
            "`{word}` is a word of the screen: say what it means in docs/zh-CN/{}",
            book::SCREEN
        ));
    }
    Ok(pictures)
}

/// The last pass with `--check`: what is stale or broken is a problem.
fn check(
    old: &[Page],
    linked: &[Page],
    spliced: &[Spliced],
    pictures: &[PagePicture],
    book: &Book,
    found: &mut Findings,
) {
    for ((old, linked), spliced) in old.iter().zip(linked).zip(spliced) {
        if linked.text != old.text {
            let what = "its links lead to the other language: `just docs` corrects them".to_owned();
            found.problems.push(Problem { page: old.name.clone(), line: 1, what });
        }
        found.problems.extend(book::broken(old, &book.root));
        found.problems.extend(book::too_long(old));
        found.problems.extend(spliced.stale.iter().cloned());
    }
    for picture in pictures.iter().filter(|picture| picture.is_stale()) {
        let what = "it is stale: `just docs` draws it".to_owned();
        found.problems.push(Problem { page: picture.name.clone(), line: 1, what });
    }
}

/// The last pass without `--check`: what has changed is written.
fn write(old: &[Page], spliced: &[Spliced], pictures: &[PagePicture]) -> anyhow::Result<()> {
    for (old, spliced) in old.iter().zip(spliced) {
        if spliced.text != old.text {
            write_whole(&old.path, &spliced.text)?;
            out!("{}: {} of {} markers filled", old.name, spliced.stale.len(), spliced.markers);
        }
    }
    for picture in pictures.iter().filter(|picture| picture.is_stale()) {
        write_whole(&picture.path, &picture.svg)?;
        out!("{}: drawn", picture.name);
    }
    Ok(())
}

impl PagePicture {
    fn is_stale(&self) -> bool {
        fs::read_to_string(&self.path).map_or(true, |old| old != self.svg)
    }
}

/// Prints the notes and the problems, the latter in the order of the pages.
fn report(found: Findings, pages: usize, markers: usize) -> anyhow::Result<ExitCode> {
    let Findings { mut problems, notes } = found;
    for note in notes {
        out!("note: {note}");
    }
    if problems.is_empty() {
        out!("{pages} pages with {markers} markers are up to date");
        return Ok(ExitCode::SUCCESS);
    }
    problems.sort();
    for problem in &problems {
        out!("{problem}");
    }
    anyhow::bail!("{} in the pages", lab_report::plural(problems.len(), "problem"))
}
