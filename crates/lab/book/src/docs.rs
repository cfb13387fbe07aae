//! `lab-book docs`: splices figures and excerpts into the course, or reports what is stale.

use std::{collections::BTreeSet, fs, process::ExitCode};

use lab_cases::Workspace;
use lab_system::{out, write_whole};

use crate::book::{self, Book, CHAPTERS, Problem};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Change nothing; fail if a marker is stale or a link is broken
    #[arg(long)]
    pub check: bool,
    /// Print what a marker with this expression would hold
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "check")]
    pub eval: Option<String>,
    /// Write into a Chinese page, or into a file of what `lab` says, that it translates the English as it is today
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["check", "eval"])]
    pub translated: Vec<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let book = Book::of(workspace)?;
    if let Some(expression) = &options.eval {
        out!("{}", book.eval(expression, &book.root.join(CHAPTERS))?);
        return Ok(ExitCode::SUCCESS);
    }
    for name in &options.translated {
        let english = match book::spoken::translated(workspace, name)? {
            Some(texts) => texts,
            None => book::translated(&book.root, name)?,
        };
        out!("{name}: translates {english}");
    }
    let pages = book::pages(&book.root)?;
    let mut problems = Vec::new();
    let (mut markers, mut written) = (0, String::new());
    let mut notes: BTreeSet<_> = book::spoken::notes(workspace)?.into_iter().collect();
    for old in &pages {
        let page = &book::relinked(old, &book.root);
        if options.check && page.text != old.text {
            let what = "its links lead to the other language: `just docs` corrects them".to_owned();
            problems.push(Problem { page: page.name.clone(), line: 1, what });
        }
        let spliced = book::splice(page, &book);
        problems.extend(spliced.faults.clone());
        match book::age(page, &book.root) {
            Some(Ok(note)) => drop(notes.insert(note.to_string())),
            Some(Err(problem)) => problems.push(problem),
            None => {}
        }
        let words = spliced.untranslated.iter();
        notes.extend(words.map(|word| {
            let where_to = "translate it in its marker, or in docs/zh-CN/words.toml";
            format!("{}: `{word}` is English: {where_to}", page.name)
        }));
        markers += spliced.markers;
        if options.check {
            problems.extend(book::broken(old, &book.root));
            problems.extend(spliced.stale);
        } else if spliced.text != old.text {
            write_whole(&page.path, &spliced.text)?;
            out!("{}: {} of {} markers filled", page.name, spliced.stale.len(), spliced.markers);
        }
        written += &spliced.text;
    }
    for (path, chart) in &book.charts {
        let file = book.root.join(path);
        let is_shown = written.contains(path.trim_start_matches(CHAPTERS));
        if !is_shown || fs::read_to_string(&file).is_ok_and(|old| old == chart.svg) {
            continue;
        }
        if options.check {
            let what = "it is stale: `just docs` draws it".to_owned();
            problems.push(Problem { page: path.clone(), line: 1, what });
        } else {
            write_whole(&file, &chart.svg)?;
            out!("{path}: drawn");
        }
    }
    for path in book::pictures(&book.root, &pages)? {
        let (svg, untranslated) = book.words.picture(&fs::read_to_string(&path.english)?);
        let name = lab_report::origin::relative(&book.root, &path.chinese);
        notes.extend(untranslated.into_iter().map(|words| {
            format!(
                "{name}: `{words}` is English: translate it in docs/zh-CN/words.toml, [pictures]"
            )
        }));
        if fs::read_to_string(&path.chinese).is_ok_and(|old| old == svg) {
            continue;
        }
        if options.check {
            let what = "it is stale: `just docs` draws it".to_owned();
            problems.push(Problem { page: name, line: 1, what });
        } else {
            write_whole(&path.chinese, &svg)?;
            out!("{name}: drawn");
        }
    }
    notes.extend(book::unexplained(&book.root)?.into_iter().map(|word| {
        format!(
            "`{word}` is a word of the screen: say what it means in docs/zh-CN/{}",
            book::SCREEN
        )
    }));
    notes.iter().for_each(|note| out!("note: {note}"));
    if problems.is_empty() {
        out!("{} pages with {markers} markers are up to date", pages.len());
        return Ok(ExitCode::SUCCESS);
    }
    // In the order of the pages.
    problems.sort();
    problems.iter().for_each(|problem| out!("{problem}"));
    anyhow::bail!("{} in the pages", lab_report::plural(problems.len(), "problem"))
}
