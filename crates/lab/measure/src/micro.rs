//! Comparing benchmarks: builds of a bench run in turn, a short time each, and every benchmark in it gets a verdict.
//!
//! A run is one process, and its time of a benchmark is one value of a pair. Two processes of the same build differ by
//! more than the samples of one process do: in the layout of their memory, and in what the machine did meanwhile. A
//! test of the samples of one process against those of another takes that for a change.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use lab_model::{Kind, Metric, Outcome};
use lab_report::{CaseRecord, Control, Run, VariantRecord};
use lab_servers::{Launch, Scratch};
use lab_stats::{Slot, median_of, schedule};
use lab_system::{Program, Progress, load_average};
use serde::Deserialize;

use crate::bench::{
    Effort,
    neighbours::Before,
    ratios::{control, control_pairs_of, of_sides, over},
    verdict,
};

/// The longest that a run may take.
const LONGEST: Duration = Duration::from_secs(1800);

/// A build of a bench.
#[derive(Debug)]
pub struct BenchSide {
    pub name: String,
    /// What the reader gave: a command or a revision.
    pub given: String,
    /// How to start it. Several differ in the layout of their code, and are used by its runs in turn.
    pub launches: Vec<Launch>,
}

/// Nanoseconds of an iteration, by the name of the benchmark.
type Times = BTreeMap<String, f64>;

/// Runs all of them, the baseline first, and judges each benchmark. `pairs`: how many, for so many that are judged together
/// and a run of this length.
///
/// # Errors
///
/// If one fails, or prints no time.
pub async fn compare(
    what: &str,
    sides: &[BenchSide],
    pairs: impl Fn(usize, Duration) -> usize,
    effort: Effort,
) -> anyhow::Result<Vec<CaseRecord>> {
    let baseline = sides.first().context("there is a baseline")?;
    // The first run says which benchmarks there are and how long a run takes.
    Progress::new(what).step("the first run");
    let mut runs = vec![run(baseline, 0).await?];
    let family = runs[0].1.len() * (sides.len() - 1);
    let length = runs[0].0.outcome.measured;
    let pairs = pairs(family, length);
    let effort = Effort { pairs, family, ..effort };
    let slots = schedule(sides.len(), pairs, effort.seed);
    let progress = Progress::planned(length * slots.len() as u32);
    for &Slot { subject, pair, .. } in &slots[1..] {
        let side = &sides[subject];
        let name = &side.name;
        let nth = pair.map_or(String::new(), |pair| {
            format!("pair {} of {}", pair + 1, pairs * (sides.len() - 1))
        });
        progress.run(what, &format!("{nth}  {name}"), length);
        let of_it = runs.iter().filter(|(run, _): &&(Run, Times)| run.variant == *name).count();
        let (run, times) = run(side, of_it).await?;
        runs.push((Run { pair, ..run }, times));
    }
    let ids: BTreeSet<_> = runs.iter().flat_map(|(_, times)| times.keys().cloned()).collect();
    let in_all = |id: &&String| runs.iter().all(|(_, times)| times.contains_key(*id));
    let (common, others): (Vec<_>, Vec<_>) = ids.iter().partition(in_all);
    ensure!(
        !common.is_empty(),
        "no benchmark is in every build; the baseline has {}",
        list(&runs[0].1)
    );
    let mut records = Vec::new();
    for id in common {
        let of_id: Vec<_> = runs.iter().map(|(run, times)| with_time(run, times[id])).collect();
        for candidate in &sides[1..] {
            let mut record = record(&of_id, [baseline, candidate], effort);
            record.case = match sides.len() {
                2 => id.clone(),
                _ => format!("{id}, {}", candidate.name),
            };
            record.load = what.to_owned();
            record.control.noise = record.noises();
            (record.verdict, record.reason) = verdict(&record, &candidate.name);
            records.push(record);
        }
    }
    if let (Some(first), false) = (records.first_mut(), others.is_empty()) {
        let benches = others.into_iter().cloned().collect();
        first.notes.push(Kind::NotInAll { benches }.into());
    }
    Ok(records)
}

fn list(times: &Times) -> String {
    lab_report::join(&times.keys().cloned().collect::<Vec<_>>())
}

/// The `nth` run of a side, which is no pair's yet.
async fn run(side: &BenchSide, nth: usize) -> anyhow::Result<(Run, Times)> {
    let launch = side.launches.iter().cycle().nth(nth).context("a side has a command")?;
    let home = Scratch::new()?;
    let mut command = Command::new(&launch.program);
    command.args(&launch.args).envs(&launch.env);
    launch.unset.iter().for_each(|name| {
        command.env_remove(name);
    });
    // Criterion before 0.3.4 only knows the second.
    command.env("CRITERION_HOME", home.path().join("criterion"));
    command.env("CARGO_TARGET_DIR", home.path());
    if let Some(dir) = &launch.dir {
        command.current_dir(dir);
    }
    let load_average = load_average();
    let (before, start) = (Before::look_at_children(), Instant::now());
    let printed = Program::of_user(command, LONGEST).named(&launch.name).output().await?;
    let (neighbours, measured) = (before.until_now(), start.elapsed());
    let mut times = of_criterion(home.path())?;
    if times.is_empty() {
        times = of_lines(&String::from_utf8_lossy(&printed));
    }
    ensure!(
        !times.is_empty(),
        "{} measured nothing: it left no file of Criterion's, and printed no line `NAME NANOSECONDS`",
        launch.name
    );
    let outcome = Outcome { measured, ..Outcome::default() };
    let run = Run {
        variant: side.name.clone(),
        pair: None,
        seed: None,
        load_average,
        server: None,
        neighbours,
        outcome,
    };
    Ok((run, times))
}

fn with_time(run: &Run, time_ns: f64) -> Run {
    let outcome = Outcome { time_ns: Some(time_ns), ..run.outcome.clone() };
    Run { outcome, ..run.clone() }
}

/// A benchmark of two sides, without its name and its verdict.
fn record(all: &[Run], [baseline, candidate]: [&BenchSide; 2], effort: Effort) -> CaseRecord {
    // Of the whole session: its runs are as far apart as those of a pair.
    let control = Control {
        pairs: control_pairs_of(&baseline.name, all).len(),
        speedup: control(&baseline.name, all),
        ..Control::default()
    };
    let runs = of_sides([&baseline.name, &candidate.name], all);
    let speedup = over(&baseline.name, &candidate.name, &runs, effort.family);
    let variant = |side: &BenchSide, speedup| {
        let times = runs.iter().filter(|run| run.variant == side.name);
        VariantRecord {
            variant: side.name.clone(),
            given: side.given.clone(),
            time_ns: median_of(times.filter_map(|run| run.outcome.time_ns)),
            speedup,
            ..VariantRecord::default()
        }
    };
    let variants = vec![variant(baseline, None), variant(candidate, Some(speedup))];
    let lengths = runs.iter().map(|run| run.outcome.measured.as_secs_f64());
    CaseRecord {
        visit: "iteration".to_owned(),
        pairs: effort.pairs,
        family: effort.family,
        seed: Some(effort.seed),
        layouts: Some(baseline.launches.len()).filter(|layouts| *layouts > 1),
        measurement_s: median_of(lengths).map_or(0.0, |it| (it * 100.0).round() / 100.0),
        minimum_effect: effort.minimum_effect,
        metric: Metric::Time,
        variants,
        candidate: Some(candidate.name.clone()),
        speedup,
        control,
        runs,
        ..CaseRecord::default()
    }
}

/// The benchmarks that Criterion left in a directory: the fastest sample of each, a mean over its iterations.
///
/// What else runs on a machine only makes samples longer. In pairs of runs of the same build on two shared cores, the
/// middle half of the ratios of these spans a third of what it spans for medians of the samples.
fn of_criterion(dir: &Path) -> anyhow::Result<Times> {
    #[derive(Deserialize)]
    struct Benchmark {
        full_id: String,
    }
    /// Iterations of each sample, and its nanoseconds. Before 0.3.4, they had no names.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Sample {
        Named { iters: Vec<f64>, times: Vec<f64> },
        Pair(Vec<f64>, Vec<f64>),
    }
    fn read<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is not as Criterion writes it", path.display()))
    }
    let mut times = Times::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        let about = dir.join("benchmark.json");
        if dir.ends_with("new") && about.is_file() {
            let Benchmark { full_id } = read(&about)?;
            let (iterations, nanoseconds) = match read(&dir.join("sample.json"))? {
                Sample::Named { iters, times } | Sample::Pair(iters, times) => (iters, times),
            };
            let each = iterations.iter().zip(&nanoseconds).map(|(count, time)| time / count);
            if let Some(fastest) = each.filter(|it| it.is_finite() && *it > 0.0).reduce(f64::min) {
                times.insert(full_id, fastest);
            }
            continue;
        }
        let entries = dir.read_dir().into_iter().flatten().flatten();
        dirs.extend(entries.map(|entry| entry.path()).filter(|path: &PathBuf| path.is_dir()));
    }
    Ok(times)
}

/// The lines `NAME NANOSECONDS` of what any other bench prints.
fn of_lines(printed: &str) -> Times {
    let time = |line: &str| {
        let (name, time) = line.trim().rsplit_once(char::is_whitespace)?;
        let time = time.parse::<f64>().ok().filter(|it| it.is_finite() && *it > 0.0)?;
        Some((name.trim().to_owned(), time))
    };
    printed.lines().filter_map(time).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_from_files_of_every_criterion_and_from_lines() {
        let dir = Scratch::new().unwrap();
        let write = |name: &str, sample: &str| {
            let of = dir.path().join("criterion").join(name).join("new");
            fs::create_dir_all(&of).unwrap();
            fs::write(of.join("benchmark.json"), format!(r#"{{"full_id": "a/{name}"}}"#)).unwrap();
            fs::write(of.join("sample.json"), sample).unwrap();
        };
        write("new", r#"{"sampling_mode": "Linear", "iters": [1, 2, 4], "times": [10, 22, 80]}"#);
        write("old", "[[1.0, 2.0], [4.0, 8.0]]");
        let expected = [("a/new".to_owned(), 10.0), ("a/old".to_owned(), 4.0)];
        assert_eq!(of_criterion(dir.path()).unwrap(), expected.into());
        write("broken", "{}");
        assert!(of_criterion(dir.path()).unwrap_err().to_string().contains("sample.json"));
        let lines = of_lines("sort small 12.5\nTimer precision: 20 ns\n\nsum\t3e3\nzero 0\n");
        assert_eq!(lines, [("sort small".to_owned(), 12.5), ("sum".to_owned(), 3000.0)].into());
    }
}
