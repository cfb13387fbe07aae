//! `lab practice predict`: what the reader expects, kept before anything is measured.

use clap::builder::{PossibleValue, PossibleValuesParser};
use lab_display::{factor, out};
use lab_model::{Metric, SUSPECTS, Workspace};
use lab_practice::Entry;

use super::{Named, ask::ask};

#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub named: Named,
    /// What you suspect
    #[arg(long, value_parser = suspects())]
    pub suspect: Option<String>,
    /// How many times better a fixed server is, by the metric that decides
    #[arg(long, value_name = "N", value_parser = factor_of)]
    pub factor: Option<f64>,
}

fn suspects() -> PossibleValuesParser {
    SUSPECTS.map(|(name, help)| PossibleValue::new(name).help(help)).into()
}

fn factor_of(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(['x', '×']).parse().ok();
    let usable = number.filter(|it| (0.01..=1e6).contains(it));
    usable.ok_or_else(|| "a factor is a number such as 4 or 1.5".to_owned())
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let case = &options.named.find(workspace)?;
    let list = SUSPECTS.map(|(name, help)| format!("  {name:<12}{help}\n")).concat();
    let question = format!("{list}What do you suspect?");
    let known = |it: &str| SUSPECTS.iter().find(|(name, _)| *name == it).map(|it| it.0.to_owned());
    let suspect = options.suspect.clone().map_or_else(|| ask(&question, "--suspect", known), Ok)?;
    let question = match case.decides {
        Metric::Latency(_) => "How many times shorter is a fixed server's tail latency?",
        _ => "How many times higher is a fixed server's throughput?",
    };
    let said = |it: &str| factor_of(it).ok();
    let said = options.factor.map_or_else(|| ask(question, "--factor", said), Ok)?;
    out!("{suspect}, {}: `just bench {}` shows what is measured", factor(said), case.shown);
    Entry::change(workspace, case, |entry| {
        (entry.suspect, entry.factor) = (Some(suspect), Some(said));
    })?;
    Ok(())
}
