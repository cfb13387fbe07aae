//! `lab-book docs`: splices figures and excerpts into the course, or reports what is stale.

use std::process::ExitCode;

use lab_book::book::{self, Book, CHAPTERS, Page, Spliced};
use lab_model::{Workspace, write_whole};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Change nothing; fail if a marker is stale or a link is broken
    #[arg(long)]
    pub check: bool,
    /// Print what a marker with this expression would hold
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "check")]
    pub eval: Option<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let book = Book::of(workspace)?;
    if let Some(expression) = &options.eval {
        println!("{}", book.eval(expression, &book.root.join(CHAPTERS))?.0);
        return Ok(ExitCode::SUCCESS);
    }
    let pages = book::pages(&book.root)?;
    let mut problems = Vec::new();
    let mut markers = 0;
    for page in &pages {
        let spliced = book::splice(page, &book);
        problems.extend(spliced.faults.clone());
        markers += spliced.markers;
        if options.check {
            problems.extend(book::broken(page, &book.root));
            problems.extend(spliced.stale);
        } else {
            write(page, &spliced, &book)?;
        }
    }
    if problems.is_empty() {
        println!("{} pages with {markers} markers are up to date", pages.len());
        return Ok(ExitCode::SUCCESS);
    }
    // In the order of the pages.
    problems.sort();
    problems.iter().for_each(|problem| println!("{problem}"));
    anyhow::bail!("{} in the pages", lab_display::plural(problems.len(), "problem"))
}

fn write(page: &Page, spliced: &Spliced, book: &Book) -> anyhow::Result<()> {
    if spliced.text != page.text {
        write_whole(&page.path, &spliced.text)?;
        println!("{}: {} of {} markers filled", page.name, spliced.stale.len(), spliced.markers);
    }
    for picture in &spliced.pictures {
        if book.is_stale(picture) {
            write_whole(&book.place(picture), &picture.svg)?;
            println!("{CHAPTERS}/{}: drawn", picture.path);
        }
    }
    Ok(())
}
