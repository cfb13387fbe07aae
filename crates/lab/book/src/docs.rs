//! `lab-book docs`: splices figures and excerpts into the course, or reports what is stale.

use std::process::ExitCode;

use lab_book::book::{self, Book, CHAPTERS, Mine, Page, Problem, Spliced};
use lab_model::{Store, Workspace, write_whole};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Change nothing; fail if a marker is stale or a link is broken
    #[arg(long)]
    pub check: bool,
    /// Leave docs/ alone and write a copy for the book, with your own last figures below the record's
    #[arg(long, conflicts_with = "check")]
    pub mine: bool,
    /// Print what a marker with this expression would hold
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = ["check", "mine"])]
    pub eval: Option<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let mine = match options.mine {
        true => Mine::of(&Store::new(&workspace.results()))?,
        false => Mine::default(),
    };
    let book = Book::of(workspace, mine)?;
    if let Some(expression) = &options.eval {
        println!("{}", book.eval(expression, &book.root.join(CHAPTERS))?.0);
        return Ok(ExitCode::SUCCESS);
    }
    if options.mine {
        let faults = book::write_mine(workspace, &book)?;
        if faults.is_empty() {
            println!("{}", workspace.results().join("book-src").display());
        }
        return Ok(report(faults));
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
    }
    Ok(report(problems))
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

/// Prints problems in the order of the pages.
fn report(mut problems: Vec<Problem>) -> ExitCode {
    if problems.is_empty() {
        return ExitCode::SUCCESS;
    }
    problems.sort();
    problems.iter().for_each(|problem| println!("{problem}"));
    eprintln!("error: {} in the pages", lab_display::plural(problems.len(), "problem"));
    ExitCode::FAILURE
}
