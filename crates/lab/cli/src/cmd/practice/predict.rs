//! `lab practice predict`: what the reader expects, kept before anything is measured.

use std::io::{IsTerminal as _, stderr, stdin};

use anyhow::{Context as _, bail};
use lab_cases::{Case, SUSPECTS, Workspace};
use lab_practice::Entry;
use lab_protocol::Metric;
use lab_report::{column, message, translate, translated};
use lab_system::{err, out};

use super::{ask::ask, find};

#[derive(Debug, clap::Args)]
#[command(after_help = format!("Kinds of faults:{}", kinds()))]
pub struct Options {
    /// The case or the exercise
    #[arg(required_unless_present = "export")]
    pub case: Option<String>,
    /// What you suspect: one of the kinds below
    #[arg(long, value_name = "SUSPECT")]
    pub suspect: Option<String>,
    /// How many times better a fixed server is, by the metric that the case asks for
    #[arg(long, value_name = "N", value_parser = factor_of)]
    pub factor: Option<f64>,
    /// Replace what you predicted before
    #[arg(long)]
    pub again: bool,
    /// Print all that you predicted, and what was measured, for somebody else to read
    #[arg(long, conflicts_with_all = ["case", "suspect", "factor", "again"])]
    pub export: bool,
}

/// # Errors
///
/// If there is a prediction already, and it isn't to be replaced.
pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let Some(name) = &options.case else { return export(workspace) };
    let case = &find(workspace, name)?;
    let name = &case.shown;
    if case.contest.is_some() {
        return several(workspace, case, options);
    }
    if let Some(said) = Entry::of(workspace, case)?.prediction().filter(|_| !options.again) {
        bail!(translate!(
            "you predicted for {case}: {said}; it stands, unless you predict with --again",
            case = name,
            said
        ));
    }
    let suspect = match &options.suspect {
        Some(typed) => case.suspect(typed)?,
        None => {
            err!("{}\n", message(&case.question));
            ask(&suspects(), "--suspect SUSPECT", |typed| case.suspect(typed))?
        }
    };
    let said = match options.factor {
        Some(said) => said,
        None => ask(&question_of(case), "--factor N", factor_of)?,
    };
    note(workspace, case, &suspect, said)?;
    let next =
        translate!("just bench {case}, which shows it next to what is measured", case = name);
    out!("  {}", translate!("next: {next}", next));
    Ok(())
}

/// A paragraph for each case that the reader has begun.
fn export(workspace: &Workspace) -> anyhow::Result<()> {
    let mut is_empty = true;
    for case in lab_practice::course(workspace)? {
        let entry = Entry::of(workspace, &case)?;
        let lines = entry.lines();
        if lines.is_empty() {
            continue;
        }
        if !is_empty {
            out!("");
        }
        out!(
            "{}",
            translate!("{case}: {state}", case = case.shown, state = translated(entry.state()))
        );
        lines.iter().for_each(|line| out!("  {line}"));
        is_empty = false;
    }
    if is_empty {
        bail!(translate!("you have predicted nothing yet: just bench idle-server"));
    }
    Ok(())
}

/// How many suspects a service with many faults has.
const SEVERAL: usize = 3;

/// Asks for three suspects and an experiment, in the reader's own words.
fn several(workspace: &Workspace, case: &Case, options: &Options) -> anyhow::Result<()> {
    let known = Entry::of(workspace, case)?;
    if !known.suspects.is_empty() && !options.again {
        bail!(translate!(
            "you suspected: {suspects}; it stands, unless you predict with --again",
            suspects = known.suspects.join("; ")
        ));
    }
    let words = |typed: &str| match typed {
        "" => Err(anyhow::anyhow!(translate!("a few words"))),
        typed => Ok(typed.to_owned()),
    };
    let mut suspects = Vec::new();
    for nth in 1..=SEVERAL {
        suspects.push(ask(
            &translate!("Suspect {nth} of {count}, in a few words?", nth, count = SEVERAL),
            translated("input"),
            words,
        )?);
    }
    let experiment = ask(
        &translate!("What would you measure to tell two of them apart?"),
        translated("input"),
        words,
    )?;
    Entry::change(workspace, case, |entry| {
        (entry.suspects, entry.experiment) = (suspects, Some(experiment));
    })?;
    let next = translate!(
        "Noted. `just contest --chart` shows them next to what your changes were worth."
    );
    out!("{next}");
    Ok(())
}

/// Shows the case's question and asks for a prediction if the case has none yet, before it is measured. An empty line
/// skips it, and without a terminal nothing is asked.
///
/// # Errors
///
/// If the journal can't be read or written.
pub fn ask_if_none(workspace: &Workspace, case: &Case) -> anyhow::Result<()> {
    if !is_to_ask(workspace, case)? {
        return Ok(());
    }
    err!("{}\n", message(&lab_practice::in_language(workspace, case)?.question));
    ask_below_question(workspace, case)
}

/// [`ask_if_none`], where the case's question is on the screen already.
///
/// # Errors
///
/// If the journal can't be read or written.
pub fn ask_below_question(workspace: &Workspace, case: &Case) -> anyhow::Result<()> {
    if !is_to_ask(workspace, case)? {
        return Ok(());
    }
    let case = &lab_practice::in_language(workspace, case)?;
    let question = translate!("{question} (Enter skips this)", question = suspects());
    let usable = |typed: &str| match typed {
        "" => Ok(None),
        typed => case.suspect(typed).map(Some),
    };
    let Ok(Some(suspect)) = ask(&question, "--suspect SUSPECT", usable) else { return Ok(()) };
    let usable = |typed: &str| match typed {
        "" => Ok(None),
        typed => factor_of(typed).map(Some),
    };
    let Ok(Some(said)) = ask(&question_of(case), "--factor N", usable) else { return Ok(()) };
    note(workspace, case, &suspect, said)
}

/// Whether somebody can answer, and has not yet.
fn is_to_ask(workspace: &Workspace, case: &Case) -> anyhow::Result<bool> {
    let can_answer = stdin().is_terminal() && stderr().is_terminal() && case.check.is_some();
    Ok(can_answer && Entry::of(workspace, case)?.prediction().is_none())
}

/// Keeps a prediction.
fn note(workspace: &Workspace, case: &Case, suspect: &str, said: f64) -> anyhow::Result<()> {
    let noted = Entry::change(workspace, case, |entry| {
        (entry.suspect, entry.factor) = (Some(suspect.to_owned()), Some(said));
    })?;
    err!("");
    let prediction = noted.prediction().unwrap_or_default();
    out!("{}", translate!("Noted: {prediction}.", prediction));
    Ok(())
}

/// The kinds of suspects of all cases.
fn kinds() -> String {
    let line = |kind: &lab_cases::SuspectKind| format!("\n  {:<12}{}", kind.name, kind.words);
    SUSPECTS.iter().map(line).collect()
}

/// The list of suspects and the question, short enough to be shown each time.
fn suspects() -> String {
    let kinds: Vec<_> = SUSPECTS.iter().map(|kind| translated(kind.name)).collect();
    let kinds = translate!("a kind of fault: {kinds}", kinds = kinds.join(", "));
    format!("{}\n{}", column(2, "  ", &kinds), translate!("What do you suspect?"))
}

fn question_of(case: &Case) -> String {
    match case.predicted_metric() {
        Metric::Throughput => {
            translate!("How many times higher is the throughput of a fixed server?")
        }
        Metric::Cpu => {
            translate!("How many times lower is the CPU time of a visit on a fixed server?")
        }
        Metric::Time => translate!("How many times lower is the time of an iteration?"),
        Metric::PeakMemory => {
            translate!("How many times lower is the peak memory of a fixed server?")
        }
        Metric::Latency(percentile) => {
            let name = percentile.name();
            translate!("How many times lower is the {name} latency of a fixed server?", name)
        }
    }
}

fn factor_of(text: &str) -> anyhow::Result<f64> {
    let number = text.trim_end_matches(['x', '×']).trim().parse().ok();
    let usable = number.filter(|factor| (0.01..=1e6).contains(factor));
    usable.with_context(|| {
        translate!("`{text}` isn't a factor; one is a number such as 4 or 1.5", text)
    })
}
