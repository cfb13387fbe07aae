//! `lab compare`: two builds of your own server, in any language, and one verdict.

use std::{net::Ipv4Addr, process::ExitCode, time::Duration};

use anyhow::{bail, ensure};
use lab_cases::{Workspace, unknown};
use lab_load::Fault;
use lab_measure::{bench::Engine, count};
use lab_model::{EngineOptions, Metric, Note};
use lab_report::{
    CaseRecord, EXPLANATIONS, NOISE, Record, Store, code, document, for_programs, noted, notes,
    paragraph,
};
use lab_servers::{Scratch, Subject};
use lab_stats::Verdict;
use lab_system::{Build, Progress, err, out};
use serde_json::json;

use super::{
    Places,
    effort::EffortOptions,
    interrupted, interruptible,
    own_server::{OwnLoad, OwnServer, comparison_of},
    sides::{CANDIDATE, SideOptions},
};

/// Puts load on two servers in turn, and says which is faster. `lab` starts them, and finds their port
/// by the sockets that they listen on; or it takes servers that run already.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lab compare --baseline ./old --candidate ./new --get /users
  lab compare --baseline ./server --candidate ./server --baseline-get /slow --candidate-get /fast
  lab compare --baseline 'node a.js' --candidate 'node b.js' --port-env PORT --get / --ready /health
  lab compare --baseline './old --port {port}' --candidate './new --port {port}' --get /users
  lab compare --baseline-url http://localhost:8080 --candidate-url http://localhost:8081 --get /users
  lab compare --rev main --rev HEAD --bin my-server --get /users
  lab compare --rev main --rev HEAD --bin my-server --get /users \\
      --layouts 12 --pairs 12 --minimum-effect 3
  lab compare --baseline ./old --candidate ./new --get / --engine locust --workers 2

A server that needs to be given a port gets one by {port} in its command, --port-env or --port-arg.

Exit code: 0 faster, equivalent or slower by less than --minimum-effect, 1 slower, 3 undecided, 2 error or a wrong or lost answer. --metric
says which metric decides.")]
pub struct Options {
    #[command(flatten)]
    pub sides: SideOptions,
    #[command(flatten)]
    pub server: OwnServer,
    #[command(flatten)]
    pub load: OwnLoad,
    #[command(flatten)]
    pub effort: EffortOptions,
    /// What makes the load: `lab` itself, ab, k6, locust, oha or wrk, or the path of your own engine
    #[arg(long, value_name = "NAME|PATH", default_value = "lab")]
    pub engine: String,
    /// With Locust: a master and N workers, instead of one process
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub workers: Option<u16>,
    /// With Locust: wait at this IPv4 address for workers from other machines; only in a network that you
    /// trust
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<Ipv4Addr>,
    /// Print all tables and notes, instead of one screen
    #[arg(short, long)]
    pub verbose: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Fail if there is such a note, as in `note[steal]`; `noise` stands for all that blame the machine
    #[arg(long, value_name = "CODE", value_parser = known_code)]
    pub deny: Vec<String>,
}

/// Returns the exit code of the verdict.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let store = Store::new(&places.results()?);
    store.ensure_writable()?;
    let mut record = Record::new(options.effort.quick, Build::unknown());
    let end = interruptible(measure(places, options, &mut record.cases));
    // Print and keep a comparison that was complete before an error or Ctrl-C.
    let Some(case) = record.cases.first() else {
        end?;
        return Ok(interrupted("nothing was written"));
    };
    report(&store, options, &record, case)?;
    if end?.is_none() {
        return Ok(interrupted("the finished comparison is kept"));
    }
    ensure!(!case.has_faults(), "some answers were wrong or missing; the notes say which");
    let denied = notes(case).into_iter().find(|note| is_denied(note, &options.deny));
    denied.map_or(Ok(()), |note| bail!("--deny: {}", noted(&note)))?;
    Ok(ExitCode::from(exit_code(case.verdict)))
}

/// Adds the record of the comparison as soon as its runs are done.
async fn measure(
    places: &Places,
    options: &Options,
    records: &mut Vec<CaseRecord>,
) -> anyhow::Result<()> {
    let engine = engine(places, options).await?;
    let files = Scratch::new()?;
    let Options { server, load, .. } = options;
    // The worktrees of revisions stay until this returns.
    let sides = options.sides.open(places, server, load.users as usize, files.path()).await?;
    let mut comparison = comparison_of("compare", *load, sides.subjects, &server.requests).await?;
    comparison.notes().iter().for_each(|note| err!("{}", noted(note)));
    comparison.load.think_ms = comparison.load.think_ms.max(sides.pause_ms);
    let mut effort = options.effort.effort(Metric::Throughput);
    if let Some(engine) = engine {
        effort.open_loop = Duration::ZERO;
        effort.start = Engine::start_time(comparison.load.users);
        comparison.engine = engine;
    }
    let is_chosen = options.effort.warm_up.is_some() || options.effort.quick;
    let is_fixed = is_chosen || options.engine != "lab" || options.sides.is_running();
    if !is_fixed && let Some(note) = comparison.warm_up(&mut effort).await? {
        comparison.note(note);
    }
    let counting = count::LONGEST * comparison.subjects.len() as u32;
    let progress = Progress::planned(comparison.length(effort) + counting);
    records.push(comparison.record(CANDIDATE, effort, &progress).await?);
    let Some(case) = records.last_mut() else { return Ok(()) };
    for (at, subject) in comparison.subjects.iter().enumerate() {
        let Subject { name, launch, asks, .. } = subject;
        progress.run("system calls", name, count::LONGEST);
        match count::system_calls(launch, asks).await {
            Ok(calls) => drop(case.variants[at].exact.insert("system_calls".to_owned(), calls)),
            // A fault is one whenever it comes, unless requests may go without an answer.
            Err(error) if is_fault(&error, effort.allow_unfinished) => {
                case.spoil(at, format!("{error:#}"));
            }
            Err(error) => {
                let note = format!("note: no system calls of the {name}: {error:#}");
                progress.aside(|| err!("{}", paragraph(&note)));
            }
        }
    }
    Ok(())
}

fn is_fault(error: &anyhow::Error, may_lack_answers: bool) -> bool {
    match error.downcast_ref() {
        Some(Fault::Mismatch(_)) => true,
        Some(Fault::Failure(_)) => !may_lack_answers,
        None => false,
    }
}

/// What makes the load, if it is not `lab` itself.
async fn engine(places: &Places, options: &Options) -> anyhow::Result<Option<Engine>> {
    let &Options { ref engine, workers, listen, ref effort, .. } = options;
    if engine == "lab" {
        let is_plain = workers.is_none() && listen.is_none();
        ensure!(is_plain, "--workers and --listen need another engine, such as --engine locust");
        return Ok(None);
    }
    // Nothing would limit the load on a server of somebody else.
    ensure!(
        !options.sides.is_running(),
        "--engine takes no --baseline-url and --candidate-url: give the commands of the servers"
    );
    let open_loop =
        effort.even_arrivals || effort.open_loop.is_some_and(|length| !length.is_zero());
    // The verdict is about the closed loop.
    ensure!(!open_loop, "--engine has no open loop: leave out --open-loop and --even-arrivals");
    let workspace = places.workspace().ok();
    let mut engine = Engine::find(engine, workspace.as_ref().map(Workspace::root))?;
    engine.check().await?;
    engine.options = EngineOptions { workers, listen, ..engine.options };
    Ok(Some(engine))
}

/// Prints and keeps the record.
fn report(
    store: &Store,
    options: &Options,
    record: &Record,
    case: &CaseRecord,
) -> anyhow::Result<()> {
    // The figures are printed even if a disk is full.
    let kept = store.keep(record.created, &document(record)?);
    if options.json {
        let exact = case.variants.iter().map(|it| (it.variant.clone(), json!(it.exact)));
        let exact: serde_json::Map<_, _> = exact.collect();
        let [reason, notes] = for_programs(case)?;
        let document = json!({
            "metric": case.metric,
            "verdict": case.verdict,
            "reason": reason,
            "pairs": case.pairs,
            "engine": case.runs.first().and_then(|run| run.outcome.engine.as_ref()),
            "speedup": case.speedup,
            "aa": case.control.speedup,
            "exact": exact,
            "notes": notes,
            "record": kept.as_ref().ok().map(|path| path.to_string_lossy()),
        });
        out!("{document}");
    } else if options.verbose {
        out!("{}", lab_report::comparison(&options.sides.title(), case));
    } else {
        out!("{}", lab_report::screen("", case, "-v, or a page: lab report --open"));
    }
    err!("  Results    {}", kept?.display());
    Ok(())
}

/// The name of all codes of [`NOISE`].
const NOISE_GROUP: &str = "noise";

fn is_denied(note: &Note, deny: &[String]) -> bool {
    let code = code(note).unwrap_or_default();
    let is_noise = NOISE.contains(&&*code);
    deny.iter().any(|it| *it == code || is_noise && it == NOISE_GROUP)
}

/// A code that `--deny` can name.
fn known_code(name: &str) -> anyhow::Result<String> {
    let known = || EXPLANATIONS.iter().map(|it| it.code).chain([NOISE_GROUP]);
    ensure!(known().any(|it| it == name), unknown("code", name, known()));
    Ok(name.to_owned())
}

/// A pull request passes unless it is slower, or the measurement does not decide.
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
    use lab_model::Kind;

    use super::*;

    #[test]
    fn a_pull_request_is_stopped_by_a_slowdown_and_without_a_decision() {
        let codes = [Verdict::Faster, Verdict::SlightlySlower, Verdict::Slower, Verdict::Undecided]
            .map(exit_code);
        assert_eq!(codes, [0, 0, 1, 3]);
    }

    #[test]
    fn a_note_is_denied_by_its_code_and_by_its_group() {
        let waited = Note::of("slow", Kind::GeneratorWaited { share: 0.2 });
        let lost = Note::of("slow", Kind::LostRequests { requests: 2 });
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
