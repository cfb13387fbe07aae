//! `lab docs`: splices figures and excerpts into the course, or says what is stale.

use std::process::ExitCode;

use lab_record::{Store, write_whole};

use super::Places;
use crate::docs::{self, CHAPTERS, Form, Mine, Page, Problem, RECIPES, Sources, Spliced};

/// What to do with the pages.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Change nothing; fail if a block is stale, a figure has no source, or a link leads nowhere
    #[arg(long)]
    pub check: bool,
    /// Leave docs/ alone and write a copy for the book, with your own last figures beside the record's
    #[arg(long, conflicts_with = "check")]
    pub mine: bool,
    /// List what a marker can ask for
    #[arg(long, conflicts_with_all = ["check", "mine"])]
    pub recipes: bool,
}

/// Splices, or checks, or copies.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    if options.recipes {
        list();
        return Ok(ExitCode::SUCCESS);
    }
    let workspace = places.workspace()?;
    let mine = match options.mine {
        true => Some(Mine::of(&Store::new(&workspace.results()))?),
        false => None,
    };
    let sources = Sources::of(&workspace, mine)?;
    if options.mine {
        let faults = docs::write_mine(&workspace, &sources)?;
        if faults.is_empty() {
            out!("{}", workspace.results().join("book-src").display());
        }
        return Ok(told(faults));
    }
    let pages = docs::pages(&sources.root)?;
    let spliced: Vec<_> = pages.iter().map(|page| docs::splice(page, &sources)).collect();
    let mut problems: Vec<_> = spliced.iter().flat_map(|it| it.faults.clone()).collect();
    if options.check {
        problems.extend(spliced.iter().flat_map(|it| it.stale.clone()));
        problems.extend(stale_files(&pages, &spliced, &sources));
        problems.extend(docs::check(&pages, &sources.root)?);
    } else {
        write(&pages, &spliced, &sources)?;
    }
    let markers: usize = spliced.iter().map(|it| it.markers).sum();
    if problems.is_empty() {
        out!("{} pages with {markers} markers are as they should be", pages.len());
    }
    Ok(told(problems))
}

/// Writes what has changed.
fn write(pages: &[Page], spliced: &[Spliced], sources: &Sources) -> anyhow::Result<()> {
    for (page, spliced) in pages.iter().zip(spliced) {
        if spliced.text != page.text {
            write_whole(&page.path, &spliced.text)?;
            out!("{}: {} of {} markers filled", page.name, spliced.stale.len(), spliced.markers);
        }
        for (file, text, _) in &spliced.files {
            let path = sources.root.join(CHAPTERS).join(file);
            if std::fs::read_to_string(&path).ok().as_ref() != Some(text) {
                write_whole(&path, text)?;
                out!("{CHAPTERS}/{file}: drawn");
            }
        }
    }
    Ok(())
}

/// Files beside the pages that are not what their recipe makes.
fn stale_files(pages: &[Page], spliced: &[Spliced], sources: &Sources) -> Vec<Problem> {
    let mut stale = Vec::new();
    for (page, spliced) in pages.iter().zip(spliced) {
        for (file, text, line) in &spliced.files {
            let path = sources.root.join(CHAPTERS).join(file);
            if std::fs::read_to_string(path).ok().as_ref() != Some(text) {
                let what = format!("{CHAPTERS}/{file} is stale: `just docs` draws it");
                stale.push(Problem { page: page.name.clone(), line: *line, what });
            }
        }
    }
    stale
}

/// Prints problems in the order of the pages.
fn told(mut problems: Vec<Problem>) -> ExitCode {
    if problems.is_empty() {
        return ExitCode::SUCCESS;
    }
    problems.sort();
    problems.iter().for_each(|problem| out!("{problem}"));
    let plural = if problems.len() == 1 { "" } else { "s" };
    eprintln!("error: {} problem{plural} in the pages", problems.len());
    ExitCode::FAILURE
}

fn list() {
    for (form, title) in [
        (
            Form::Block,
            "On a line of its own: <!-- lab: RECIPE -->, and <!-- /lab --> on a later line",
        ),
        (Form::Inline, "In a line: <!-- lab: RECIPE --><!-- /lab -->, with a word before it"),
    ] {
        out!("{title}\n");
        for recipe in RECIPES.iter().filter(|recipe| recipe.form == form) {
            out!("  {}\n      {}", recipe.usage, recipe.gives);
        }
        out!();
    }
}
