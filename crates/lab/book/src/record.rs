//! `lab-book record`: files the newest results as a record. `just record` measures them first.

use std::process::ExitCode;

use lab_model::Workspace;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The end of the record's name, after the day [default: 2-cores, or what this machine has]
    #[arg(long, value_parser = name)]
    pub name: Option<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let dir = lab_book::publish(workspace, options.name.as_deref())?;
    println!("  Record    {}", dir.display());
    Ok(ExitCode::SUCCESS)
}

/// A part of a directory's name.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(is_plain) {
        return Err("use letters, digits and hyphens".to_owned());
    }
    Ok(text.to_owned())
}
