//! `lab practice drill`: a table, a question and four answers, then why each is right or wrong.

use std::io::{BufRead as _, IsTerminal as _, Write as _, stderr, stdin};

use anyhow::ensure;
use lab_cases::{Drill, Workspace, drills};
use lab_report::{Table, TextLanguage, column, paragraph, translate, translated};
use lab_system::{err, out};

/// The page that has the drills with their answers folded.
const PAGE: &str = "docs/src/drills.md";

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The number of the first drill
    #[arg(default_value_t = 1)]
    number: usize,
}

/// # Errors
///
/// If there is no such drill, or nobody at a terminal to answer it.
pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let all = drills(workspace.root(), TextLanguage::is_chinese(), Ok)?;
    let of = all.len();
    ensure!(
        (1..=of).contains(&options.number),
        translate!(
            "there is no drill {number}: choose one from 1 to {of}",
            number = options.number,
            of
        )
    );
    let (mut right, mut answered) = (0, 0);
    for drill in &all[options.number - 1..] {
        show(drill, of);
        ensure!(
            stdin().is_terminal(),
            translate!(
                "a drill needs an answer: run it in a terminal, or read {page}",
                page = PAGE
            )
        );
        let Some(answer) = answer()? else { break };
        answered += 1;
        right += usize::from(answer == drill.right);
        explain(workspace, drill, answer);
        out!("\n  before/after drill {}: {right} of {answered}", drill.number);
        if drill.number < of && !goes_on()? {
            break;
        }
    }
    Ok(())
}

fn show(drill: &Drill, of: usize) {
    let (number, text) = (drill.number, &drill.text);
    let shown = plain(&text.shown);
    out!("\n{}", paragraph(&translate!("Drill {number} of {of}. {shown}", number, of, shown)));
    let plain_rows = drill.rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect());
    let head = drill.head.iter().map(|cell| plain(cell));
    out!("\n{}\n", Table::new("", head, plain_rows).text());
    out!("{}\n", paragraph(&plain(&text.question)));
    for (at, answer) in text.answers.iter().enumerate() {
        out!("{}", column(5, &format!("  {}. ", at + 1), &plain(answer)));
    }
    out!("");
}

/// The index of the reader's answer; `None` at the end of the input.
fn answer() -> anyhow::Result<Option<usize>> {
    loop {
        let Some(line) = line(translated("Your answer, 1 to 4 (Ctrl-C ends):"))? else {
            return Ok(None);
        };
        match line.trim().parse() {
            Ok(answer @ 1..=4) => return Ok(Some(answer - 1)),
            _ => err!("  {}", translate!("type a number from 1 to 4")),
        }
    }
}

fn explain(workspace: &Workspace, drill: &Drill, answer: usize) {
    let is_right = answer == drill.right;
    out!("\n  {}\n", translated(if is_right { "Right." } else { "Not that one." }));
    for (at, why) in drill.text.because.iter().enumerate() {
        let mark = if at == drill.right { "→" } else { " " };
        out!("{}", column(5, &format!("{mark} {}. ", at + 1), &plain(why)));
    }
    let (page, _) = drill.more.split_once('#').unwrap_or((&drill.more, ""));
    let page = lab_practice::in_book(workspace, format!("docs/src/{page}"));
    let sources = drill.sources.join(", ");
    out!("\n{}", paragraph(&translate!("More: {page}. Figures: {sources}.", page, sources)));
}

/// Whether the reader wants the next drill.
fn goes_on() -> anyhow::Result<bool> {
    Ok(line(translated("Enter: the next drill"))?.is_some())
}

/// A line that the reader typed; `None` at the end of the input.
fn line(question: &str) -> anyhow::Result<Option<String>> {
    // A missing terminal shows when the answer is read.
    let _ = write!(stderr(), "{question} ");
    let line = stdin().lock().lines().next().transpose()?;
    if line.is_none() {
        err!("");
    }
    Ok(line)
}

/// Markdown without its marks.
fn plain(text: &str) -> String {
    text.replace(['`', '*'], "")
}
