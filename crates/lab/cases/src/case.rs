//! The case file: everything that the laboratory knows about a case.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use lab_protocol::{Exhibit, Load, Metric, OpenLoop, Request, SpanKind, within};
use serde::Deserialize;

use crate::{Criteria, Overrides, Prediction, TimedRequest};

/// The variant that the others are compared with.
pub const SLOW: &str = "slow";
/// The variant that the case is about.
pub const FIXED: &str = "fixed";
/// The variant that the reader writes; see `Workspace::cases_with_mine`.
pub const MINE: &str = "mine";

/// A case, as its `case.toml` describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The name of the case's directory, and the first part of its binaries' names.
    #[serde(skip)]
    pub name: String,
    /// The directory of the case file.
    #[serde(skip)]
    pub dir: PathBuf,
    /// Another name for commands, which does not give the fault away; see [`Case::masked`].
    pub alias: Option<String>,
    /// The name that commands show.
    #[serde(skip)]
    pub shown: String,
    /// The fault of the slow variant, as a heading.
    pub title: String,
    /// The question of someone who sees only the symptom.
    pub question: String,
    /// In the order of the lesson; each is the binary `CASE-VARIANT`.
    pub variants: Vec<String>,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Servers that a variant needs, in the order in which they start.
    #[serde(default, rename = "companion")]
    pub companions: Vec<Companion>,
    /// The count in `counts.toml` that explains the fault; without one, `tests/mechanism.rs` does.
    pub counter: Option<String>,
    /// The variants whose requests may outlast a run. Those of others are lost, and errors, unless the
    /// load explains them.
    #[serde(default)]
    pub allow_unfinished: Vec<String>,
    /// A note on the figures of the steps between `slow` and `fixed`.
    pub steps_note: Option<String>,
    /// How many users ask, and how often.
    pub load: Load,
    /// Arrivals per second in the open loop; without it, half of what the slowest variant can answer.
    pub arrivals_per_s: Option<f64>,
    /// The name of a visit in the tables, such as `request` or `page`.
    #[serde(default = "a_request")]
    pub visit: String,
    /// One visit of a user: the first request alone, then the others in parallel. Requests with a
    /// rate of their own come from other clients, and only their answers are checked.
    #[serde(rename = "request")]
    pub requests: Vec<TimedRequest>,
    pub promise: Option<Promise>,
    /// The metric that the case promises, and that the verdict is about.
    #[serde(skip)]
    pub decides: Metric,
    /// The pictures of `lab flame`, the most important first.
    #[serde(default = "lab_protocol::usual")]
    pub flame: Vec<Exhibit>,
    /// The meaning of the servers' spans, by their names.
    #[serde(default)]
    pub spans: BTreeMap<String, SpanKind>,
    /// The parameters of its sweeps, by the name of the bench group: labels for a chart's axes.
    #[serde(default, rename = "sweep")]
    pub sweeps: BTreeMap<String, Sweep>,
    /// The boxes of `slow` that a variant removes, by the variant: its point next to the curve of Amdahl's law. They are
    /// boxes of the picture of CPU time or of waits that `flame` has first.
    #[serde(default)]
    pub removes: BTreeMap<String, Vec<String>>,
    /// The settings that differ when the case is counted instead of timed.
    #[serde(default)]
    pub count: Overrides,
    /// The prediction that `lab practice predict` asks for.
    #[serde(default)]
    pub predict: Prediction,
    /// The criteria for a fix by the reader. A case without them cannot be practised.
    pub check: Option<Criteria>,
    /// How `lab practice contest` judges a whole service, in place of a check.
    pub contest: Option<ContestRules>,
}

/// The referee of a contest, and the programs that the service depends on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContestRules {
    /// The program that draws the visits and knows their right answers.
    pub referee: String,
    /// The companion that is disturbed during a run.
    pub companion: String,
}

/// The usual visit of a user.
pub fn a_request() -> String {
    "request".to_owned()
}

/// A server that a variant needs, such as the upstream of a proxy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    /// `{NAME}` in arguments and environment is replaced by the URL that this server announced.
    pub name: String,
    pub bin: String,
    /// The companion's arguments; `{scratch}` is replaced by a temporary directory of the run.
    #[serde(default)]
    pub args: Vec<String>,
    /// The path of its counters over plain HTTP: a JSON object of names and numbers.
    pub counters: Option<String>,
}

/// A series of benches over one parameter, in words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    pub title: String,
    /// The parameter that the sweep varies, with its unit.
    pub parameter: String,
    /// The work whose time the sweep measures.
    pub time: String,
}

/// The lowest speedup that `fixed` shows on a machine that is not overloaded.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "BTreeMap<String, f64>")]
pub struct Promise {
    pub metric: Metric,
    pub factor: f64,
}

/// From a table such as `{ throughput = 4.0 }`.
impl TryFrom<BTreeMap<String, f64>> for Promise {
    type Error = anyhow::Error;

    fn try_from(promised: BTreeMap<String, f64>) -> anyhow::Result<Self> {
        ensure!(promised.len() == 1, "`promise` has to name one metric");
        let (name, factor) = promised.into_iter().next().context("there is one")?;
        Ok(Self { metric: name.try_into()?, factor })
    }
}

impl Case {
    /// Reads and checks a case file; the case gets the name of the file's directory.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a valid case.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let dir = path.parent().context("a case file has a directory")?;
        let name = dir.file_name().context("a case file has a directory")?;
        let case = Self::parse(&name.to_string_lossy(), &text);
        let mut case = case.with_context(|| path.display().to_string())?;
        let requests = case.requests.iter_mut().chain(&mut case.count.requests);
        for body in requests.filter_map(|request| request.request.body.as_mut()) {
            *body = dir.join(&*body);
        }
        Ok(Self { dir: dir.to_owned(), ..case })
    }

    /// Whether finding the fault and writing the fix are left to the reader.
    pub fn is_exercise(&self) -> bool {
        self.dir.parent().is_some_and(|dir| dir.ends_with("exercises"))
    }

    /// The chapter of a case or the page of an exercise, below the root of the workspace.
    pub fn page(&self) -> String {
        let part = if self.is_exercise() { "exercises" } else { "cases" };
        // The address of a page must not name the fault.
        format!("docs/src/{part}/{}.md", self.alias_or_name())
    }

    /// The source of a variant: a file, or a directory if there is a contest. The solutions of exercises are apart,
    /// where nobody reads them by accident.
    pub fn source(&self, variant: &str) -> PathBuf {
        let extension = if self.contest.is_some() { "" } else { ".rs" };
        if variant == FIXED && self.is_exercise() {
            self.dir.with_file_name("solutions").join(format!("{}{extension}", self.name))
        } else {
            self.dir.join(format!("src/{variant}{extension}"))
        }
    }

    /// The name that the course uses.
    pub fn alias_or_name(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }

    /// The case for someone who asked for it by its alias, and has yet to find the fault: with its
    /// question in place of its title.
    pub fn masked(&self) -> Self {
        let mut case = self.clone();
        if let Some(alias) = &self.alias {
            case.shown.clone_from(alias);
            case.title.clone_from(&self.question);
        }
        case
    }

    /// All requests, also those of other clients.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.iter().map(|request| request.request.clone()).collect()
    }

    pub fn server(&self, variant: &str) -> String {
        format!("{}-{variant}", self.name)
    }

    /// The case as it is counted.
    pub fn counted(&self) -> Self {
        let mut case = self.clone();
        let overrides = case.count.clone();
        case.args = overrides.args.unwrap_or(case.args);
        if !overrides.requests.is_empty() {
            case.requests = overrides.requests;
        }
        case.env.extend(overrides.env);
        for companion in &mut case.companions {
            let more = overrides.companion_args.get(&companion.name);
            companion.args.extend(more.into_iter().flatten().cloned());
        }
        case
    }

    pub(crate) fn parse(name: &str, text: &str) -> anyhow::Result<Self> {
        let mut case =
            Self { name: name.to_owned(), shown: name.to_owned(), ..toml::from_str(text)? };
        case.decides = case.promise.map_or(Metric::default(), |promise| promise.metric);
        for needed in [SLOW, FIXED] {
            ensure!(
                case.variants.iter().any(|variant| variant == needed),
                "`variants` lacks `{needed}`"
            );
        }
        case.load.check()?;
        let own_rates = case.requests.iter().filter_map(|request| request.rate_per_s);
        for rate in own_rates.chain(case.arrivals_per_s) {
            within("rate_per_s", rate, OpenLoop::RATES_PER_S)?;
        }
        let is_visited = case.requests.iter().any(|request| request.rate_per_s.is_none());
        ensure!(is_visited, "a visit needs a `request` without `rate_per_s`");
        ensure!(
            !case.spans.is_empty() || !case.flame.contains(&Exhibit::Timeline),
            "`timeline` needs a table `[spans.\"NAME\"]` for each span to be drawn"
        );
        case.check.iter().try_for_each(|check| check.ensure_valid(&case.args))?;
        Ok(case)
    }
}

#[cfg(test)]
mod tests {
    use lab_protocol::{Answer, Role};

    use super::*;

    const CASE: &str = r#"
        title = "t"
        question = "q"
        variants = ["slow", "fixed"]
        load = { users = 3000, think_ms = 500 }
        request = [{ path = "/read", answer = "6" }]
    "#;

    #[test]
    fn a_case_file_is_read_with_its_defaults() {
        let case = Case::parse("toy", CASE).unwrap();
        assert_eq!((case.load.users, case.load.connections), (3000, 1));
        let Request { method, expected, .. } = &case.requests[0].request;
        assert_eq!((method.as_str(), expected.status), ("GET", 200));
        assert_eq!(expected.answer, Answer::Text("6".into()));
    }

    #[test]
    fn a_case_asked_for_by_its_alias_does_not_show_its_fault() {
        let case = Case::parse("toy", &format!("alias = \"a\"\n{CASE}")).unwrap();
        assert_eq!([&case.shown, &case.title], ["toy", "t"]);
        let case = case.masked();
        assert_eq!([&case.name, &case.shown, &case.title], ["toy", "a", "q"]);
    }

    #[test]
    fn mistakes_in_a_case_file_are_explained() {
        for (right, wrong, why) in [
            ("fixed", "better", "`variants` lacks `fixed`"),
            ("answer = \"6\"", "bytes = 6", "a request needs either `answer`, or both"),
            ("think_ms", "thinking", "unknown field `thinking`"),
            ("users = 3000", "users = 0", "`users` is 0, not between 1 and 100000"),
            ("answer =", "rate_per_s = -2, answer =", "`rate_per_s` is -2"),
            ("answer =", "rate_per_s = 2, answer =", "a visit needs a `request` without"),
            ("title", "promise = { latency-p98 = 2.0 }\ntitle", "`latency-p98` is not a metric"),
        ] {
            let error = Case::parse("toy", &CASE.replace(right, wrong)).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn a_timeline_needs_to_know_what_its_spans_mean() {
        let case = format!("flame = [\"timeline\"]\n{CASE}");
        assert!(Case::parse("toy", &case).unwrap_err().to_string().contains("[spans."));
        let spans = "[spans.\"lock held\"]\nlabel = \"holds the lock\"\nrole = \"held\"\n";
        let case = Case::parse("toy", &format!("{case}{spans}")).unwrap();
        assert_eq!(case.spans["lock held"].role, Role::Held);
    }

    /// The case files of the workspace.
    fn case_files() -> Vec<String> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let files = ["", "exercises"].iter().flat_map(|dir| crates.join(dir).read_dir().unwrap());
        let mut files: Vec<_> = files.map(|dir| dir.unwrap().path().join("case.toml")).collect();
        files.sort();
        files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect()
    }

    #[test]
    fn a_malformed_case_file_is_refused_or_describes_a_case() {
        malformed_input::texts(case_files(), |text| {
            let Ok(case) = Case::parse("toy", text) else { return };
            let counted = case.masked().counted();
            assert!(
                case.load.users > 0 && case.load.connections > 0 && !counted.requests.is_empty()
            );
            for variant in &case.variants {
                case.server(variant);
                case.source(variant);
            }
            case.page();
        });
    }
}
