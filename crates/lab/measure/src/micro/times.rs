//! The times that a run of a bench measured: from the files that Criterion left, or the lines `NAME NANOSECONDS` that
//! it printed. What has no usable time keeps its name and the reason.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde::Deserialize;

/// Nanoseconds of an iteration, or why they aren't known.
type TimeOrWhyNot = Result<f64, String>;

/// The benchmarks by name, each with its nanoseconds per iteration, or why they are missing.
#[derive(Debug, Default, PartialEq)]
pub struct Times(BTreeMap<String, TimeOrWhyNot>);

/// How Criterion begins a line about a benchmark that it leaves out.
const LEFT_OUT: &str = "Criterion.rs ERROR: ";

impl Times {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub fn of(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_ref().ok().copied()
    }

    /// Why a benchmark has no time; `None` if nothing is known of it.
    pub fn why_not(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_ref().err().map(String::as_str)
    }

    /// How many have one.
    pub fn usable(&self) -> usize {
        self.0.values().filter(|time| time.is_ok()).count()
    }

    fn add(&mut self, name: String, time: Result<f64, String>) {
        // Repetitions of one benchmark, or several benchmarks: nobody can say.
        let time = if self.0.contains_key(&name) {
            Err("several have this name: give each a name of its own".to_owned())
        } else {
            time
        };
        self.0.insert(name, time);
    }

    /// A line of what a bench printed. A line of words is skipped, unless its last word looks like a number.
    pub fn read_line(&mut self, line: &str) {
        let Some((name, last)) = line.trim().rsplit_once(char::is_whitespace) else { return };
        let is_unit = ["ns", "us", "µs", "μs", "ms", "s"].contains(&last);
        let (name, last) = match name.trim().rsplit_once(char::is_whitespace) {
            Some((rest, number)) if is_unit && looks_like_a_number(number) => {
                (rest, format!("{number} {last}"))
            }
            _ => (name, last.to_owned()),
        };
        let time = match last.parse::<f64>() {
            Ok(time) if time.is_finite() && time > 0.0 => Ok(time),
            Ok(_) => Err(format!("its time is {}", shortened(&last))),
            Err(_) if is_unit && last.contains(' ') || looks_like_a_number(&last) => Err(format!(
                "`{}` is not a number of nanoseconds, such as 1234.5",
                shortened(&last)
            )),
            Err(_) => return,
        };
        self.add(lab_system::escaped(name.trim()), time);
    }

    /// A line in which Criterion may say that it leaves a benchmark out. It writes no file then.
    pub fn read_error(&mut self, line: &str) {
        let Some((_, error)) = line.split_once(LEFT_OUT) else { return };
        let named =
            error.split_once("of benchmark ").and_then(|(_, rest)| rest.split_once(" took "));
        let name = named.map_or("a benchmark", |(name, _)| name).to_owned();
        self.0.insert(name, Err(format!("Criterion says: {}", lab_system::plain(error))));
    }

    pub fn add_left_out(&mut self, left_out: Self) {
        self.0.extend(left_out.0);
    }

    /// The benchmarks that Criterion left in a directory: the fastest sample of each, a mean over its iterations.
    ///
    /// What else runs on a machine only makes samples longer. In pairs of runs of the same build on two shared cores,
    /// the middle half of the ratios of these spans a third of what it spans for medians of the samples.
    pub fn of_criterion(home: &Path) -> Self {
        #[derive(Deserialize)]
        struct Benchmark {
            full_id: String,
        }
        let mut found: BTreeMap<String, Vec<(String, TimeOrWhyNot)>> = BTreeMap::new();
        let mut dirs = vec![home.to_owned()];
        while let Some(dir) = dirs.pop() {
            let about = dir.join("benchmark.json");
            if dir.ends_with("new") && about.is_file() {
                let place = dir.parent().unwrap_or(&dir);
                let place = place.strip_prefix(home).unwrap_or(place).display().to_string();
                let place = place.trim_start_matches("criterion/").to_owned();
                let (name, time) = match read::<Benchmark>(&about) {
                    Ok(benchmark) => {
                        (benchmark.full_id, fastest(&dir).map_err(|error| format!("{error:#}")))
                    }
                    Err(error) => (place.clone(), Err(format!("{error:#}"))),
                };
                found.entry(lab_system::escaped(&name)).or_default().push((place, time));
                continue;
            }
            let entries = dir.read_dir().into_iter().flatten().flatten();
            dirs.extend(entries.map(|entry| entry.path()).filter(|path: &PathBuf| path.is_dir()));
        }
        let mut times = Self::default();
        for (name, mut all) in found {
            // Criterion tells those with the same name apart by their directories, such as `1` and `1_2`.
            if let [_] = &all[..] {
                times.0.extend(all.pop().map(|(_, time)| (name, time)));
            } else {
                let of_place =
                    |(place, time): (String, TimeOrWhyNot)| (format!("{name} ({place})"), time);
                times.0.extend(all.into_iter().map(of_place));
            }
        }
        times
    }
}

/// Lists the benchmarks without a time, with the reasons.
impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.iter().filter_map(|(name, time)| Some((name, time.as_ref().err()?)));
        let all: Vec<_> = all.map(|(name, why)| format!("{name} ({why})")).collect();
        f.write_str(&lab_report::join(&all))
    }
}

/// A number as people and locales write it: `2,000`, `1,5`, `1'000`, `1_000`, `nan`.
fn looks_like_a_number(word: &str) -> bool {
    let word = word.trim_start_matches(['+', '-', '.', ',']);
    let is_part = |character: char| character.is_ascii_digit() || "+-.,_'eE".contains(character);
    word.starts_with(|character: char| character.is_ascii_digit()) && word.chars().all(is_part)
}

/// A number may have hundreds of digits.
fn shortened(number: &str) -> String {
    match number.char_indices().nth(24) {
        None => number.to_owned(),
        Some((end, _)) => format!("{}…", &number[..end]),
    }
}

/// The fastest sample in a directory of Criterion's.
fn fastest(dir: &Path) -> anyhow::Result<f64> {
    /// Iterations of each sample, and its nanoseconds. Before 0.3.4, they had no names. What is no number is `null`.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Sample {
        Named { iters: Vec<Option<f64>>, times: Vec<Option<f64>> },
        Pair(Vec<Option<f64>>, Vec<Option<f64>>),
    }
    let (iterations, nanoseconds) = match read(&dir.join("sample.json"))? {
        Sample::Named { iters, times } | Sample::Pair(iters, times) => (iters, times),
    };
    anyhow::ensure!(!iterations.is_empty(), "it has no samples");
    let each = iterations.iter().zip(&nanoseconds).map(|(count, time)| Some((*time)? / (*count)?));
    let each: Option<Vec<f64>> = each.collect();
    let each = each.filter(|each| each.iter().all(|time_ns| time_ns.is_finite()));
    let each = each.context("one of its samples is not a number")?;
    let fastest = each.into_iter().reduce(f64::min).filter(|time_ns| *time_ns > 0.0);
    fastest.context(
        "one of its samples took no time: the clock is too coarse, or nothing was left to measure",
    )
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let name = path.file_name().unwrap_or_default().display();
    let text = fs::read(path).with_context(|| format!("{name} can't be read"))?;
    serde_json::from_slice(&text)
        .with_context(|| format!("its {name} is not as Criterion writes it"))
}

#[cfg(test)]
mod tests {
    use lab_servers::Scratch;

    use super::*;

    const GOOD: &str = r#"{"sampling_mode": "Linear", "iters": [1, 2, 4], "times": [10, 22, 80]}"#;

    fn write(home: &Path, place: &str, name: &str, sample: &str) {
        let of = home.join("criterion").join(place).join("new");
        fs::create_dir_all(&of).unwrap();
        let about = serde_json::json!({ "full_id": name });
        fs::write(of.join("benchmark.json"), about.to_string()).unwrap();
        fs::write(of.join("sample.json"), sample).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_read_hides_no_other_time() {
        let home = Scratch::new().unwrap();
        let home = home.path();
        write(home, "new", "a/new", GOOD);
        write(home, "old", "a/old", "[[1.0, 2.0], [4.0, 8.0]]");
        for (nth, sample) in [
            "{}",
            r#"{"iters": [1, 2"#,
            r#"{"iters": [1, 2], "times": [10, null]}"#,
            r#"{"iters": [0, 0], "times": [10, 10]}"#,
            r#"{"iters": [1, 2], "times": [0, 0]}"#,
            r#"{"iters": [1], "times": [1e999]}"#,
            "[[], []]",
        ]
        .into_iter()
        .enumerate()
        {
            write(home, &format!("bad{nth}"), &format!("bad{nth}"), sample);
        }
        let times = Times::of_criterion(home);
        assert_eq!([times.of("a/new"), times.of("a/old")], [Some(10.0), Some(4.0)]);
        assert_eq!((times.usable(), times.names().count()), (2, 9), "{times:?}");
        assert!(times.why_not("bad1").unwrap().contains("sample.json"), "{times:?}");
        assert!(times.why_not("bad2").unwrap().contains("not a number"), "{times:?}");
        assert!(times.why_not("bad4").unwrap().contains("took no time"), "{times:?}");
    }

    #[test]
    fn benchmarks_with_one_name_are_told_apart_by_their_directories() {
        let home = Scratch::new().unwrap();
        for place in ["1", "1_2", "a_b/c", "a/b_c"] {
            let name = if place.starts_with('1') { "1" } else { "a/b/c" };
            write(home.path(), place, name, GOOD);
        }
        let times = Times::of_criterion(home.path());
        let names: Vec<_> = times.names().map(String::as_str).collect();
        assert_eq!(names, ["1 (1)", "1 (1_2)", "a/b/c (a/b_c)", "a/b/c (a_b/c)"]);
        assert_eq!(times.usable(), 4);
    }

    fn of_lines(printed: &str) -> Times {
        let mut times = Times::default();
        printed.lines().for_each(|line| times.read_line(line));
        times
    }

    #[test]
    fn lines_have_a_name_and_a_number_of_nanoseconds() {
        let times = of_lines(
            "sort small 12.5\nthis is prose\n\nsum\t3e3\ntest a ... bench: 1 ns/iter (+/- 56)\n",
        );
        assert_eq!([times.of("sort small"), times.of("sum")], [Some(12.5), Some(3000.0)]);
        assert_eq!(times.names().count(), 2, "{times:?}");
        let huge = format!("huge {}", "9".repeat(400));
        for line in
            ["a 1,5", "a 2,000", "a 1_000", "a 1.5 µs", "a 200 ns", "a nan", "a 0", "a -5", &huge]
        {
            let times = of_lines(line);
            let name = times.names().next().unwrap_or_else(|| panic!("{line} vanished")).clone();
            assert!(times.usable() == 0 && ["a", "huge"].contains(&&*name), "{line}: {times:?}");
            assert!(times.why_not(&name).unwrap().len() < 90, "{times:?}");
        }
        let times = of_lines("twice 100\nonce 5\ntwice 300\ntwice 100\n");
        assert_eq!((times.of("twice"), times.of("once")), (None, Some(5.0)));
        assert!(times.why_not("twice").unwrap().contains("several"), "{times:?}");
    }

    #[test]
    fn what_criterion_leaves_out_is_named() {
        let mut times = of_lines("good 5\n");
        times.read_error("good\ttime: [1 ns 2 ns 3 ns]");
        times.read_error(
            "Criterion.rs ERROR: At least one measurement of benchmark a/b took zero time per iteration.",
        );
        assert_eq!((times.usable(), times.names().count()), (1, 2));
        assert!(times.why_not("a/b").unwrap().contains("zero time"), "{times:?}");
    }

    #[test]
    fn a_malformed_line_has_at_most_one_time_that_is_a_positive_number() {
        malformed_input::texts(
            ["sort small 12.5", "sum\t3e3", "parse 1.5 µs", "a 2,000"],
            |line| {
                let mut times = Times::default();
                times.read_line(line);
                times.read_error(line);
                assert!(times.names().count() <= 2);
                let is_time = |time: f64| time.is_finite() && time > 0.0;
                assert!(times.names().filter_map(|name| times.of(name)).all(is_time), "{times:?}");
            },
        );
    }
}
