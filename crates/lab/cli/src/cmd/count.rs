//! `lab count`: what one visit costs each variant, exactly.

use std::{collections::BTreeMap, process::ExitCode};

use console::style;
use lab_cases::{Case, Reference, Workspace};
use lab_measure::count::{
    self, Counts,
    reference::{self, ReferenceTable, TOLERANCE_PERCENT},
};
use lab_report::{count_table, message};
use lab_servers::instrumented::{self, Instrumentation};
use lab_system::{Progress, err, out, write_whole};

use super::{Places, interrupted, interruptible};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The cases; all if none is named
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
    /// Fail if a count has moved by more than 1 % from the case's counts.toml
    #[arg(long)]
    pub check: bool,
    /// Write the counts into each case's counts.toml
    #[arg(long, conflicts_with = "check")]
    pub update: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

const HEAD: &str = "\
# What one visit costs each variant, counted by `lab count`: allocations of the server process, the
# bytes they request, and what the companions count. `just ci` fails when a count moves by more
# than 1 %, or than its case allows. `just count --update` writes this file; see docs/src/counts.md.
";

const CHANGED: &str = "The cost of a visit has changed. If you meant it to, run `just count --update` and say why in \
                       the commit; docs/src/counts.md says what moves a count.";

/// The counts of all variants by name.
type Counted = BTreeMap<String, Counts>;

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    // The reference is that of the case as it is published.
    let cases = if options.check || options.update {
        workspace.cases_named(&options.cases)?
    } else {
        workspace.cases_with_mine(&options.cases)?
    };
    let counted = interruptible(async {
        let build = instrumented::build_instrumented(&workspace, &cases, Instrumentation::Counts);
        let counting = places.build_unless_given(workspace.clone(), build).await?;
        count_all(&counting, &cases, options).await
    })?;
    let Some(counted) = counted else { return Ok(interrupted("nothing was written")) };
    if options.json {
        out!("{}", serde_json::to_string(&counted)?);
    }
    let mut moved = Vec::new();
    for case in &cases {
        let path = case.dir.join("counts.toml");
        let counted = &counted[&case.name];
        let exact = counted.iter().map(|(variant, counts)| (variant.clone(), counts.exact.clone()));
        let exact: ReferenceTable = exact.collect();
        let tolerance = |count: &str| {
            case.count.tolerance_percent.get(count).copied().unwrap_or(TOLERANCE_PERCENT)
        };
        if options.update {
            write_whole(&path, &reference::text(HEAD, &exact, &case.variants))?;
            err!("wrote {}", path.display());
        } else if options.check {
            let lines = reference::compare(&Reference::read(&path)?.0, &exact, tolerance);
            moved.extend(lines.into_iter().map(|line| format!("{}-{line}", case.name)));
        }
    }
    if moved.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for line in &moved {
        err!("error: {line}");
    }
    err!("{}", message(CHANGED));
    Ok(ExitCode::FAILURE)
}

async fn count_all(
    workspace: &Workspace,
    cases: &[Case],
    options: &Options,
) -> anyhow::Result<BTreeMap<String, Counted>> {
    let mut all = BTreeMap::new();
    let mut notes = Vec::new();
    for case in cases {
        let mut counted = Counted::new();
        let progress = Progress::new(&case.shown);
        for variant in &case.variants {
            progress.step(&format!("counting {variant}"));
            let (counts, note) = count::measure(workspace, case, variant, &[]).await?;
            // The same for every variant, so print it once.
            if let Some(note) = note.filter(|note| !notes.contains(note)) {
                progress.aside(|| err!("{}", message(&format!("note: {note}"))));
                notes.push(note);
            }
            counted.insert(variant.clone(), counts);
        }
        drop(progress);
        if !options.json {
            print_case(case, &counted);
        }
        all.insert(case.name.clone(), counted);
    }
    Ok(all)
}

fn print_case(case: &Case, counted: &Counted) {
    let visit = match case.requests.len() {
        1 => "a visit is one request".to_owned(),
        requests => format!("a visit is {requests} requests"),
    };
    out!("\n{}  {visit}; the median of {}", style(&case.shown).bold().cyan(), case.count.visits);
    let named = case.variants.iter().filter_map(|v| Some((v.as_str(), counted.get(v)?.named())));
    let named: Vec<_> = named.collect();
    let named: Vec<_> = named.iter().map(|(variant, counts)| (*variant, counts)).collect();
    out!("{}\n", count_table("a visit of", &named).text());
}
