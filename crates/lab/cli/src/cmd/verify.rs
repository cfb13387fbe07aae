//! `lab verify`: every server starts, gives the right answers and stops; and every case is real.

use std::{fs, io, path::Path, process::ExitCode};

use anyhow::Context as _;
use console::style;
use lab_cases::{Case, FIXED, SLOW, Workspace};
use lab_measure::bench::visit_once;
use lab_report::{column, join};
use lab_servers::{Launch, current};
use lab_system::{Build, out};

use super::{Places, interrupted, interruptible};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The cases; all if none is named
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
}

/// Starts each variant of each case as a process of its own and checks its answers.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    let cases = workspace.cases_named(&options.cases)?;
    let verified = interruptible(async {
        let wanted: Vec<_> = cases.iter().map(|case| (case, case.variants.clone())).collect();
        let build = current::build_ordinary(&workspace, &wanted);
        places.build_unless_given(Build::unknown(), build).await?;
        let mut all_right = true;
        for case in &cases {
            let requests = case.requests();
            let mut right = Vec::new();
            for variant in &case.variants {
                let launch = Launch::of_case(&workspace, case, variant)?;
                match visit_once(&launch, &requests).await? {
                    Ok(()) => right.push(variant.clone()),
                    Err(fault) => {
                        let server = format!("{}-{variant} is wrong", case.name);
                        out!("{}", fault_of(&server, &fault.to_string()));
                        all_right = false;
                    }
                }
            }
            if !right.is_empty() {
                let label = format!("{} {}  ", style("✓").green(), case.name);
                let width = console::measure_text_width(&label);
                out!("{}", column(width, &label, &join(&right)));
            }
            let lacks = lacks(&workspace, case)?;
            lacks.iter().for_each(|fault| out!("{}", fault_of(&case.name, fault)));
            all_right &= lacks.is_empty();
        }
        Ok(all_right)
    })?;
    let Some(all_right) = verified else { return Ok(interrupted("nothing was written")) };
    Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn fault_of(name: &str, fault: &str) -> String {
    column(2, &format!("{} ", style("✗").red()), &format!("{name}: {fault}"))
}

const NO_COUNTER: &str =
    "nothing counts the fault: name a `counter` in case.toml, or add tests/mechanism.rs";

/// What a case has to have before it proves anything: a fault, a fix, a counter, and no text that is
/// left from `just new-case`. A case whose source is elsewhere lacks nothing.
fn lacks(workspace: &Workspace, case: &Case) -> anyhow::Result<Vec<String>> {
    let variant = |name: &str| {
        let text = fs::read_to_string(case.source(name)).ok()?;
        let code = text.lines().filter(|line| !line.starts_with("//!"));
        Some(code.collect::<Vec<_>>().join("\n"))
    };
    let (Some(slow), Some(fixed)) = (variant(SLOW), variant(FIXED)) else {
        return Ok(Vec::new());
    };
    let mut lacks = Vec::new();
    if slow == fixed {
        lacks.push("slow.rs and fixed.rs are the same: write the fault and the fix".to_owned());
    }
    match &case.counter {
        Some(counter) => lacks.extend(same_count(workspace, case, counter)),
        None if case.is_exercise() || case.dir.join("tests/mechanism.rs").is_file() => {}
        None => lacks.push(NO_COUNTER.to_owned()),
    }
    let snake = case.name.replace('-', "_");
    let root = workspace.root();
    let chapter = root.join(case.page());
    let further = root.join(case.page().replace(".md", "-further.md"));
    let bench = root.join(format!("benches/micro/{snake}.rs"));
    for place in [case.dir.clone(), chapter, further, bench] {
        unfinished(&place, root, &mut lacks)?;
    }
    Ok(lacks)
}

/// Why the counter does not explain the fault, if it does not.
fn same_count(workspace: &Workspace, case: &Case, counter: &str) -> Option<String> {
    let reference = match workspace.counts(case) {
        Ok(reference) => reference,
        Err(error) => return Some(format!("{error:#}")),
    };
    let count = |variant: &str| reference.of(variant).get(counter).copied();
    match (count(SLOW), count(FIXED)) {
        (Some(slow), Some(fixed)) if slow > fixed => None,
        (Some(slow), Some(fixed)) => {
            Some(format!("`{counter}` explains nothing: {slow} in slow, {fixed} in fixed"))
        }
        _ => Some(format!("counts.toml has no `{counter}` yet: `just count --update` writes it")),
    }
}

/// Adds every file in which `TODO` is left, with its lines.
fn unfinished(path: &Path, root: &Path, lacks: &mut Vec<String>) -> anyhow::Result<()> {
    if path.is_dir() {
        let entries = path.read_dir().with_context(|| format!("cannot read {}", path.display()))?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        return paths.iter().try_for_each(|path| unfinished(path, root, lacks));
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().enumerate().filter(|(_, line)| line.contains("TODO"));
    let lines: Vec<_> = lines.map(|(index, _)| (index + 1).to_string()).collect();
    if !lines.is_empty() {
        let file = path.strip_prefix(root).unwrap_or(path).display();
        lacks.push(format!("TODO is left in {file}, line {}", lines.join(", ")));
    }
    Ok(())
}
