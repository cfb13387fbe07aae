//! `lab practice predict`: what the reader expects, kept before anything is measured.

use anyhow::Context as _;
use lab_cases::{Case, SUSPECTS, Workspace};
use lab_model::Metric;
use lab_practice::Entry;
use lab_report::factor;
use lab_system::{err, out};

use super::{Named, ask::ask};

#[derive(Debug, clap::Args)]
#[command(after_help = format!("Kinds of faults:{}", kinds()))]
pub struct Options {
    #[command(flatten)]
    pub named: Named,
    /// What you suspect: one of the kinds below, or a letter of the case's page
    #[arg(long, value_name = "SUSPECT")]
    pub suspect: Option<String>,
    /// How many times better a fixed server is, by the metric that the case asks for
    #[arg(long, value_name = "N", value_parser = factor_of)]
    pub factor: Option<f64>,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let case = &options.named.find(workspace)?;
    let suspect = match &options.suspect {
        Some(typed) => case.suspect(typed)?,
        None => {
            err!("{}\n{}a kind of fault:{}\n", case.question, letters(case), kinds());
            ask("What do you suspect?", "--suspect SUSPECT", |typed| case.suspect(typed))?
        }
    };
    let said = match options.factor {
        Some(said) => said,
        None => ask(&question(case), "--factor N", factor_of)?,
    };
    out!(
        "\nNoted: {suspect}, {}. To see it next to what is measured: just bench {}",
        factor(said),
        case.shown
    );
    Entry::change(workspace, case, |entry| {
        (entry.suspect, entry.factor) = (Some(suspect), Some(said));
    })?;
    Ok(())
}

/// The same for all cases.
fn kinds() -> String {
    let line = |it: &lab_cases::SuspectKind| format!("\n  {:<12}{}", it.name, it.words);
    SUSPECTS.iter().map(line).collect()
}

fn letters(case: &Case) -> String {
    match &case.letters()[..] {
        [] => "Answer ".to_owned(),
        [first, .., last] => {
            format!("Answer {first} to {last}, the suspects of {}, or ", case.page())
        }
        [only] => format!("Answer {only}, the suspect of {}, or ", case.page()),
    }
}

fn question(case: &Case) -> String {
    match case.predicted_metric() {
        Metric::Throughput => {
            "How many times higher is the throughput of a fixed server?".to_owned()
        }
        Metric::Cpu => {
            "How many times lower is the CPU time of a visit on a fixed server?".to_owned()
        }
        Metric::Latency(percentile) => {
            let name = percentile.name();
            format!("How many times lower is the {name} latency of a fixed server?")
        }
    }
}

fn factor_of(text: &str) -> anyhow::Result<f64> {
    let number = text.trim_end_matches(['x', '×']).trim().parse().ok();
    let usable = number.filter(|it| (0.01..=1e6).contains(it));
    usable.with_context(|| format!("`{text}` isn't a factor; one is a number such as 4 or 1.5"))
}
