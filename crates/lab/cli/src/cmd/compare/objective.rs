//! `lab compare --objective`: at how many times the rate does the other server hold it?

use std::{process::ExitCode, time::Duration};

use anyhow::ensure;
use lab_measure::{
    bench::{Experiment, find_warm_up, watching},
    objective::{compare_objective, comparison_takes},
};
use lab_protocol::Objective;
use lab_report::{ObjectiveComparison, noted, paragraph, planned, render_screen};
use lab_servers::Scratch;
use lab_system::{err, out};

use super::{super::interrupted, Options, Places, exit_code, experiment, interruptible};

/// Returns the exit code of the verdict.
pub fn run(places: &Places, options: &Options, objective: Objective) -> anyhow::Result<ExitCode> {
    let candidates = options.sides.candidates();
    ensure!(
        candidates < 2,
        "--objective compares two servers: give one candidate, not {candidates}"
    );
    ensure!(
        !options.sides.allow_remote,
        "--objective searches for the limit of a server: run it on the server's own machine, without --allow-remote"
    );
    let Some(found) = interruptible(compare(places, options, objective))? else {
        return Ok(interrupted("nothing was kept"));
    };
    if options.output.json {
        out!("{}", found.for_programs()?);
    } else {
        out!("{}", render_screen("", &found.answer(), "-v has each run; no record is kept"));
        if options.output.verbose {
            out!("\n{}", found.tables());
        }
    }
    Ok(ExitCode::from(exit_code(found.verdict)))
}

async fn compare(
    places: &Places,
    options: &Options,
    objective: Objective,
) -> anyhow::Result<ObjectiveComparison> {
    let files = Scratch::new()?;
    let users = options.load.users as usize;
    // The worktrees of revisions stay until this returns.
    let mut sides = options.sides.open(places, &options.server, users, files.path()).await?;
    let mut experiment = experiment(options, &mut sides).await?;
    let say = |experiment: &Experiment, watching| {
        let time = planned(watching + comparison_takes(experiment, objective));
        err!(
            "{}",
            paragraph(&format!(
                "measuring for about {time}, and half as long again if runs contradict each other"
            ))
        );
    };
    let is_chosen = options.effort.warm_up.is_some() || options.sides.is_running();
    say(&experiment, if is_chosen { Duration::ZERO } else { watching(&experiment) });
    if !is_chosen && let Some(found) = find_warm_up(&experiment).await? {
        err!("{}", noted(&found.note));
        experiment.effort.warm_up = found.length;
        say(&experiment, Duration::ZERO);
    }
    let found = compare_objective(&experiment, objective).await?;
    let Experiment { subjects, effort, .. } = &experiment;
    let names = [0, 1].map(|at| subjects[at].name.clone());
    let requests = subjects[0].requests.iter().filter(|request| !request.once).count();
    let minimum_effect = effort.minimum_effect;
    let (searches, runs) = (found.searches, &found.runs);
    Ok(ObjectiveComparison::of(names, searches, requests, minimum_effect, runs))
}
