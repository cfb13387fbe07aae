//! `lab compare`: builds of your own server, in any language, and a verdict on each.

mod length;
mod objective;

use std::{net::Ipv4Addr, process::ExitCode, time::Duration};

use anyhow::{bail, ensure};
use lab_cases::{Workspace, unknown};
use lab_measure::{
    bench::{
        Effort, Engine, Experiment, Runs, assess_each, find_warm_up, run as run_experiment,
        watching,
    },
    micro,
};
use lab_protocol::{EngineOptions, Load, Metric, Note, Objective};
use lab_report::{
    CaseName, CaseRecord, ComparisonAnswer, EXPLANATIONS, NOISE, Record, Store, code, noted, notes,
    paragraph, render_besides, render_screen, render_tables, to_json, worst,
};
use lab_servers::{Scratch, learn_answers};
use lab_stats::Verdict;
use lab_system::{Build, Progress, allow_connections, err, out};

use super::{
    Places,
    compare_json::for_a_program,
    effort::{EffortOptions, seed},
    interrupted, interruptible,
    more::{self, ensure_same},
    own_bench::OwnBenches,
    server_options::{OwnLoad, OwnServer},
    sides::{SideOptions, Sides},
};

/// What says something about another load, or about pairs.
const NOT_WITH_OBJECTIVE: [&str; 17] = [
    "engine",
    "workers",
    "listen",
    "bench",
    "bench_command",
    "pairs",
    "interval",
    "limit",
    "quick",
    "more",
    "metric",
    "measurement",
    "open_loop",
    "even_arrivals",
    "users",
    "think_ms",
    "deny",
];

/// Puts load on two servers or more in turn, and says which are faster than the first. `lab` starts them, and finds
/// their port by the sockets that they listen on; or it takes servers that run already.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Exit code: 0 faster, equivalent or slower by less than --minimum-effect, 1 slower, 3 undecided, 2 error or a wrong or \
lost answer. --help has all options and examples.",
    after_long_help = "\
Examples:
  lab compare ./old ./new --get /users
  lab compare ./server jemalloc='LD_PRELOAD=libjemalloc.so.2 ./server' mimalloc='LD_PRELOAD=libmimalloc.so.2 ./server' \\
      --get /users
  lab compare './server GET /slow' './server GET /fast'
  lab compare 'node a.js' 'node b.js' --port-env PORT --get / --ready /health
  lab compare './old --port {port}' './new --port {port}' --get /users
  lab compare http://localhost:8080 http://localhost:8081 --get /users
  lab compare --rev main --rev HEAD --bin my-server --get /users
  lab compare --rev main --rev HEAD --bin my-server --get /users \\
      --layouts 12 --pairs 12 --minimum-effect 3
  lab compare ./old ./new --get /users --objective 'p99 < 50 ms'   # at how many times the rate?
  lab compare ./old ./new --get / --engine locust --workers 2

A server that needs to be given a port gets one by {port} in its command, --port-env or --port-arg.

Exit code: 0 faster, equivalent or slower by less than --minimum-effect, 1 slower, 3 undecided, 2 error or a wrong or
lost answer. Of several candidates, the first of 1 and 3 that one has. --metric says which metric decides."
)]
pub struct Options {
    #[command(flatten)]
    pub sides: SideOptions,
    #[command(flatten)]
    pub server: OwnServer,
    #[command(flatten)]
    pub load: OwnLoad,
    #[command(flatten)]
    pub generator: GeneratorOptions,
    #[command(flatten)]
    pub effort: EffortOptions,
    /// Add pairs to the comparison of the last hour that had the same command, under the same error rates
    #[arg(long, help_heading = "Length", conflicts_with_all = ["pairs", "bench", "bench_command"])]
    pub more: bool,
    /// Compare the highest rates of random arrivals at which this holds: 'p99 < 50 ms'
    ///
    /// It searches for both rates, with runs in turns, and says before about how long that takes: 3 minutes and more. The
    /// percentile is p50, p90, p99 or p99.9, the unit s, ms or us. No record is kept: --json has all runs.
    #[arg(long, help_heading = "Verdict", value_name = "OBJECTIVE", conflicts_with_all = NOT_WITH_OBJECTIVE)]
    pub objective: Option<Objective>,
    #[command(flatten)]
    pub output: OutputOptions,
}

/// What makes the load.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Load")]
pub struct GeneratorOptions {
    /// What makes the load: `lab` itself, ab, k6, locust, oha or wrk, or the path of your own engine
    #[arg(long, value_name = "NAME|PATH", default_value = "lab", hide_short_help = true)]
    pub engine: String,
    /// With Locust: a master and N workers, instead of one process
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub workers: Option<u16>,
    /// With Locust: wait at this IPv4 address for workers from other machines; only in a network that you
    /// trust
    #[arg(long, value_name = "ADDRESS", hide_short_help = true)]
    pub listen: Option<Ipv4Addr>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Print all tables and notes, instead of one screen
    #[arg(short, long)]
    pub verbose: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Fail if there is such a note, as in `note[steal]`; `noise` stands for all that blame the machine
    #[arg(long, value_name = "CODE", hide_short_help = true, value_parser = known_code)]
    pub deny: Vec<String>,
}

/// Returns the exit code of the verdict.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    if let Some(objective) = options.objective {
        return objective::run(places, options, objective);
    }
    let store = Store::new(&places.results()?);
    store.ensure_writable()?;
    let mut record = Record::new(options.effort.quick, Build::unknown());
    let earlier = if options.more { more::earlier(&store, &record)?.cases } else { Vec::new() };
    let mut measured = None;
    let end = interruptible(measure(places, options, &earlier, &mut record.cases, &mut measured));
    if let Some((experiment, runs)) = measured.filter(|(_, runs)| runs.is_complete()) {
        record.cases = assess_each(&experiment, &runs)?;
    }
    // Print and keep a comparison that was complete before an error or Ctrl-C.
    let cases = &record.cases[..];
    if cases.is_empty() {
        end?;
        return Ok(interrupted("nothing was written"));
    }
    report(&store, &options.output, &record, options.effort.interval)?;
    if end?.is_none() {
        return Ok(interrupted("the finished comparison is kept"));
    }
    let has_faults = cases.iter().any(CaseRecord::has_faults);
    ensure!(!has_faults, "some answers were wrong or missing; the notes say which");
    let denied = cases.iter().flat_map(notes).find(|note| is_denied(note, &options.output.deny));
    denied.map_or(Ok(()), |note| bail!("--deny: {}", noted(&note)))?;
    Ok(ExitCode::from(exit_code(worst(cases.iter()))))
}

async fn measure_benches(places: &Places, options: &Options) -> anyhow::Result<Vec<CaseRecord>> {
    let effort = &options.effort;
    let OwnBenches { what, sides, .. } = &OwnBenches::open(places, &options.sides, effort).await?;
    let usual = effort.effort(Effort::usual(effort.quick, seed()), Metric::Time, 1);
    let until = |family: usize, run: Duration| {
        let pairs = effort.until().fewest_pairs(family);
        effort.until_a_look(2 * pairs as u32 * run * (sides.len() - 1) as u32)
    };
    micro::compare(what, sides, until, usual).await
}

/// The experiment on all sides, whose answers were checked.
async fn experiment(options: &Options, sides: &mut Sides) -> anyhow::Result<Experiment> {
    let mut subjects = std::mem::take(&mut sides.subjects);
    // Before a server starts.
    allow_connections(options.load.users as usize)?;
    let (notes, visit_takes) = learn_answers(&mut subjects, &options.server.requests).await?;
    notes.iter().for_each(|note| err!("{}", noted(note)));
    let effort = length::effort(options, visit_takes)?;
    for subject in &mut subjects {
        subject.program = subject.launch.fingerprint();
    }
    let load = options.load.load();
    let load = Load { think_ms: load.think_ms.max(sides.pause_ms), ..load };
    let experiment = Experiment::new(CaseName::OwnServers, load, subjects, effort)?;
    Ok(Experiment { notes, visit_takes, ..experiment })
}

/// Measures servers into `measured`, and benches into `records`.
async fn measure(
    places: &Places,
    options: &Options,
    earlier: &[CaseRecord],
    records: &mut Vec<CaseRecord>,
    measured: &mut Option<(Experiment, Runs)>,
) -> anyhow::Result<()> {
    if options.sides.is_of_benches() {
        records.extend(measure_benches(places, options).await?);
        return Ok(());
    }
    let engine = engine(places, options).await?;
    let files = Scratch::new()?;
    let Options { server, load, .. } = options;
    // The worktrees of revisions stay until this returns.
    let mut sides = options.sides.open(places, server, load.users as usize, files.path()).await?;
    let mut experiment = experiment(options, &mut sides).await?;
    (experiment.counts_system_calls, experiment.loads_alone) = (true, true);
    if let Some(case) = earlier.first() {
        experiment.effort.warm_up = Duration::from_secs_f64(case.warm_up_s);
        experiment.effort.measurement = Duration::from_secs_f64(case.measurement_s);
    }
    if let Some(engine) = engine {
        experiment.effort.open_loop = Duration::ZERO;
        experiment.effort.start = Engine::start_time(load.users as usize);
        experiment.engine = engine;
    }
    let is_chosen = options.effort.warm_up.is_some() || options.effort.quick;
    if options.more {
        ensure_same(&experiment, earlier)?;
    }
    let runs = Runs::of_records(&experiment, earlier);
    let is_fixed = is_chosen
        || runs.is_complete()
        || options.generator.engine != "lab"
        || options.sides.is_running();
    let watching = if is_fixed { Duration::ZERO } else { watching(&experiment) };
    experiment.effort.until = options.effort.until_a_look(experiment.length());
    err!("{}", paragraph(&length::planned(&experiment, watching, options.effort.quick)));
    if !is_fixed && let Some(found) = find_warm_up(&experiment).await? {
        err!("{}", noted(&found.note));
        experiment.effort.warm_up = found.length;
        // Longer runs need a longer limit up to their first look.
        experiment.effort.until = options.effort.until_a_look(experiment.length());
        experiment.notes.push(found.note);
    }
    let progress = Progress::planned(experiment.length());
    let (experiment, runs) = &mut *measured.insert((experiment, runs));
    run_experiment(experiment, &progress, runs).await
}

/// The engine that makes the load; `None` for `lab`'s own generator.
async fn engine(places: &Places, options: &Options) -> anyhow::Result<Option<Engine>> {
    let GeneratorOptions { engine, workers, listen } = &options.generator;
    let effort = &options.effort;
    if engine == "lab" {
        let is_plain = workers.is_none() && listen.is_none();
        ensure!(is_plain, "--workers and --listen need another engine, such as --engine locust");
        return Ok(None);
    }
    // Nothing would limit the load on a server of somebody else.
    ensure!(
        !options.sides.is_running(),
        "--engine takes no URL of a server that runs already: give the commands of the servers"
    );
    let open_loop =
        effort.even_arrivals || effort.open_loop.is_some_and(|length| !length.is_zero());
    // The verdict is about the closed loop.
    ensure!(!open_loop, "--engine has no open loop: leave out --open-loop and --even-arrivals");
    let workspace = places.workspace().ok();
    let mut engine = Engine::find(engine, workspace.as_ref().map(Workspace::root))?;
    engine.check().await?;
    engine.options = EngineOptions { workers: *workers, listen: *listen, ..engine.options };
    Ok(Some(engine))
}

/// Prints and keeps the record.
fn report(
    store: &Store,
    options: &OutputOptions,
    record: &Record,
    interval: Option<f64>,
) -> anyhow::Result<()> {
    // The figures are printed even if a disk is full.
    let kept = store.keep(record.created, &to_json(record)?);
    let more = "-v, or a page: lab report --open";
    match &record.cases[..] {
        cases if options.json => {
            let path = kept.as_ref().ok().map(|path| path.to_string_lossy().into_owned());
            out!("{}", for_a_program(cases, path)?);
        }
        cases if options.verbose => {
            for case in cases {
                out!("{}", render_tables(&given(case), case));
            }
            let besides = render_besides(&ComparisonAnswer::of(record));
            if !besides.is_empty() {
                out!("\n{}", besides.trim_end());
            }
        }
        [case] => out!("{}", render_screen("", &ComparisonAnswer::of_case(case), more)),
        cases => out!("{}", render_screen("", &ComparisonAnswer::of_candidates(cases), more)),
    }
    if !options.json {
        let advice = |case| more::advice(case, interval.map(|percent| percent / 100.0));
        record.cases.iter().filter_map(advice).for_each(|advice| out!("{advice}"));
    }
    err!("  Results    {}", kept?.display());
    Ok(())
}

/// `./new against ./old`
fn given(case: &CaseRecord) -> String {
    let sides = case.sides();
    sides.map_or(String::new(), |(one, other)| format!("{} against {}", other.given, one.given))
}

/// The name of all codes of [`NOISE`].
const NOISE_GROUP: &str = "noise";

fn is_denied(note: &Note, deny: &[String]) -> bool {
    let code = code(note).unwrap_or_default();
    let is_noise = NOISE.contains(&&*code);
    deny.iter().any(|denied| *denied == code || is_noise && denied == NOISE_GROUP)
}

/// A code that `--deny` can name.
fn known_code(name: &str) -> anyhow::Result<String> {
    let known = || EXPLANATIONS.iter().map(|explanation| explanation.code).chain([NOISE_GROUP]);
    ensure!(known().any(|known| known == name), unknown("code", name, known()));
    Ok(name.to_owned())
}

/// A pull request passes unless a candidate is slower, or the measurement does not decide.
fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Slower => 1,
        Verdict::Undecided => 3,
        // A loss below the minimum effect is one that the user accepts.
        Verdict::Faster
        | Verdict::SlightlyFaster
        | Verdict::SlightlySlower
        | Verdict::Equivalent => 0,
    }
}

#[cfg(test)]
mod tests {
    use lab_protocol::NoteKind;

    use super::*;

    #[test]
    fn a_pull_request_is_stopped_by_a_slowdown_and_without_a_decision() {
        let each = [Verdict::Faster, Verdict::SlightlySlower, Verdict::Slower, Verdict::Undecided];
        assert_eq!(each.map(exit_code), [0, 0, 1, 3]);
        let of = |all: &[Verdict]| {
            let cases =
                all.iter().map(|verdict| CaseRecord { verdict: *verdict, ..CaseRecord::default() });
            exit_code(worst(cases.collect::<Vec<_>>().iter()))
        };
        assert_eq!((of(&each), of(&[Verdict::Undecided, Verdict::Faster])), (1, 3));
    }

    #[test]
    fn a_note_is_denied_by_its_code_and_by_its_group() {
        let waited = Note::of("slow", NoteKind::GeneratorWaited { share: 0.2 });
        let lost = Note::of("slow", NoteKind::LostRequests { requests: 2 });
        let denied = |name: &str| {
            let deny = [known_code(name).unwrap()];
            [&waited, &lost].map(|note| is_denied(note, &deny))
        };
        assert_eq!(denied("noise"), [true, false]);
        assert_eq!(denied("lost-requests"), [false, true]);
        assert!(!is_denied(&Note::Sentence("noise".to_owned()), &["noise".to_owned()]));
        let error = known_code("lost-request").unwrap_err().to_string();
        assert!(error.ends_with("did you mean `lost-requests`?"), "{error}");
    }
}
