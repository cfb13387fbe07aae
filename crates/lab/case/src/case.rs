//! The case file: all that the laboratory knows of a case.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context as _, ensure};
use lab_load::Load;
use serde::Deserialize;

use super::{
    Overrides, Request,
    exhibit::{self, Exhibit},
};

/// The variant that every other one is compared with.
pub const BASELINE: &str = "slow";
/// The variant that the case is about.
pub const CANDIDATE: &str = "fixed";

/// A case, as its `case.toml` describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The name of the case's directory, and the first part of its binaries' names.
    #[serde(skip)]
    pub name: String,
    /// What is wrong in the slow variant, as a heading.
    pub title: String,
    /// What somebody who sees only the symptom would ask.
    pub question: String,
    /// The variants, in the order of the lesson; each is the binary `CASE-VARIANT`.
    pub variants: Vec<String>,
    /// Arguments for every variant.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment of every variant.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Servers that have to run before a variant can, in their order.
    #[serde(default, rename = "companion")]
    pub companions: Vec<Companion>,
    /// What a reader has to know of the steps' figures.
    pub steps_note: Option<String>,
    /// Who asks, and how often.
    pub load: Load,
    /// What one user asks in one go: the first request alone, then the others in parallel.
    #[serde(rename = "request")]
    pub requests: Vec<Request>,
    /// What the fix promises.
    pub promise: Option<Promise>,
    /// The pictures of `lab flame`, the most telling first.
    #[serde(default = "exhibit::usual")]
    pub flame: Vec<Exhibit>,
    /// What the sweeps of its benches vary, by the name of their group: for the axes of a chart.
    #[serde(default, rename = "sweep")]
    pub sweeps: BTreeMap<String, Sweep>,
    /// What exact counts are taken over.
    #[serde(default)]
    pub count: Overrides,
}

/// A server that a variant needs, such as the upstream of a proxy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    /// In arguments and environment, `{NAME}` stands for the URL that this server announced.
    pub name: String,
    /// Its binary.
    pub bin: String,
    /// Its arguments; `{scratch}` stands for a directory of the run's own.
    #[serde(default)]
    pub args: Vec<String>,
    /// Where it answers in plain HTTP with what it counted: a JSON object of names and numbers.
    pub counters: Option<String>,
}

/// A series of benches over one parameter, in words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// What is measured, as a heading.
    pub title: String,
    /// What is varied, with its unit.
    pub parameter: String,
    /// What takes the time.
    pub time: String,
}

/// The least factors by which fixed has to beat slow on a machine that is not overloaded.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Of throughput.
    pub throughput: f64,
}

impl Case {
    /// Reads and checks a case file; the case gets the name of the file's directory.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let name =
            path.parent().and_then(Path::file_name).context("a case file has a directory")?;
        Self::parse(&name.to_string_lossy(), &text).with_context(|| path.display().to_string())
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

    fn parse(name: &str, text: &str) -> anyhow::Result<Self> {
        let case = Self { name: name.to_owned(), ..toml::from_str(text)? };
        for needed in [BASELINE, CANDIDATE] {
            ensure!(
                case.variants.iter().any(|variant| variant == needed),
                "`variants` lacks `{needed}`"
            );
        }
        ensure!(case.load.users > 0, "`users` has to be at least 1");
        ensure!(case.load.connections > 0, "`connections` has to be at least 1");
        Ok(case)
    }
}

#[cfg(test)]
mod tests {
    use lab_load::Answer;

    use super::*;

    const CASE: &str = r#"
        title = "t"
        question = "q"
        variants = ["slow", "fixed"]
        load = { users = 3000, think_ms = 500 }
        [[request]]
        path = "/read"
        answer = "6"
    "#;

    #[test]
    fn a_case_file_is_read_with_its_defaults() {
        let case = Case::parse("toy", CASE).unwrap();
        assert_eq!((case.load.users, case.load.connections), (3000, 1));
        let request = &case.requests[0];
        assert_eq!((request.method.as_str(), request.status), ("GET", 200));
        assert_eq!(request.answer, Answer::Text("6".into()));
    }

    #[test]
    fn a_case_without_its_twin_is_refused() {
        let error = Case::parse("toy", &CASE.replace("fixed", "better")).unwrap_err();
        assert_eq!(error.to_string(), "`variants` lacks `fixed`");
    }

    #[test]
    fn a_request_needs_one_right_answer() {
        let error = Case::parse("toy", &CASE.replace("answer = \"6\"", "bytes = 6")).unwrap_err();
        assert!(error.to_string().contains("needs either `answer`, or both"), "{error}");
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        assert!(Case::parse("toy", &CASE.replace("think_ms", "thinking")).is_err());
    }
}
