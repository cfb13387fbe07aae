//! The criteria that a reader's own fix of a case has to meet.

use std::collections::BTreeMap;

use anyhow::ensure;
use serde::Deserialize;

use crate::SUSPECTS;

/// The `[check]` of a case file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criteria {
    /// The kind of the fault, by the names of the [`SUSPECTS`]. If several fit, each is right.
    pub suspects: Vec<String>,
    /// The factor over `slow` that is enough, of what the case promises; far below what `fixed` reaches.
    pub speed: f64,
    /// The requests of the counted visit, such as `GET /receipts/{1..1000000}`, in place of the case's own. Each
    /// check draws others, so that a fix that keeps answers has to do the work, too.
    #[serde(default)]
    pub counted: Vec<String>,
    /// Requests that come before the counted visit: what a service makes once, on first use, isn't part of it.
    #[serde(default)]
    pub before: Vec<String>,
    /// The limits for the same visit to the same server a second time, when the server could have kept the answers.
    pub again: Option<Limits>,
    /// The requests of the load, in place of the case's own. Each of them becomes many, which users send in turn.
    #[serde(default)]
    pub timed: Vec<String>,
    /// The most that the first visit to a fresh server may cost, by the names that `lab count` shows.
    #[serde(default)]
    pub at_most: BTreeMap<String, u64>,
    /// The least, for work that a fix must not leave out.
    #[serde(default)]
    pub at_least: BTreeMap<String, u64>,
    /// Requests such as `PUT /clients/7`, in this order, whose answers must be those of `slow`. Here and in the
    /// other requests, each `{FROM..TO}` becomes a random number and each `{a|b}` one of these words, others in
    /// each check. What follows a `POST` and its path is the body.
    #[serde(default)]
    pub odd: Vec<String>,
    /// The limits for servers that are started in another way.
    #[serde(default)]
    pub otherwise: Vec<Otherwise>,
    /// Answers that change with the state of the service.
    #[serde(default)]
    pub state: Vec<Change>,
    /// A flag such as `--database-url`, and a value with `{scratch}`, by which two servers share their data. The
    /// changes of the state are then also made through a second server.
    pub shared: Option<[String; 2]>,
    /// Answers that depend on what came before, but not on its order.
    #[serde(default)]
    pub at_once: Vec<AtOnce>,
    /// How long each request of the case's visit has to wait, whatever the fix.
    pub wait: Option<Wait>,
    /// Requests that must not wait for others.
    pub overtaking: Option<Overtaking>,
    /// From the first look to nearly the fix.
    pub hints: Vec<String>,
}

/// The highest and lowest allowed cost of a visit, by the names that `lab count` shows.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    #[serde(default)]
    pub at_most: BTreeMap<String, u64>,
    #[serde(default)]
    pub at_least: BTreeMap<String, u64>,
}

/// Another way to start the servers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Otherwise {
    /// The difference to the usual start, such as `without an upstream`.
    pub what: String,
    /// Arguments that replace the case's own, if there are any.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables in addition to the case's. `{case}` is the case's directory.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    pub odd: Vec<String>,
}

/// Users who ask at the same time, and a request afterwards.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtOnce {
    /// The request of each user, such as `GET /teams/2/export`.
    pub users: String,
    /// How often each user sends it.
    #[serde(default = "once")]
    pub times: usize,
    /// The requests that another client sends meanwhile, one after the other.
    #[serde(default)]
    pub meanwhile: Vec<String>,
    /// The request afterwards. Its answer must be one that `slow` gives after the same requests, one after the other:
    /// first some of `meanwhile`, then the users, then the rest.
    pub get: String,
}

fn once() -> usize {
    1
}

/// A request whose answer others change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Such as `GET /orders`.
    pub get: String,
    /// Such as `PUT /customers/{1..1000}/Ada`; drawn until the answer of `slow` shows the change.
    pub change: String,
}

/// The wait for another service, which a flag of the servers sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// Such as `--downstream-ms`, which has to be one of the case's `args`.
    pub flag: String,
    /// The least and the most milliseconds; each part of a check draws its own.
    pub ms: [u64; 2],
    /// The name of the upstream that takes that long, such as `the directory`.
    pub of: String,
}

/// Two requests of which the quick one must be answered while the slow one waits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overtaking {
    /// Such as `GET /read`. It takes the case's wait; without one, the work of a single worker.
    pub slow: String,
    /// Such as `PUT /clients/a/7`.
    pub quick: String,
}

impl Criteria {
    /// The limits for the first visit.
    pub fn first(&self) -> Limits {
        Limits { at_most: self.at_most.clone(), at_least: self.at_least.clone() }
    }

    /// Whether the mechanism gate counts.
    pub fn is_counted(&self) -> bool {
        !self.at_most.is_empty() || !self.at_least.is_empty()
    }

    /// The texts that become parts of sentences.
    pub(super) fn parts(&mut self) -> Vec<&mut String> {
        let parts = self.otherwise.iter_mut().map(|start| &mut start.what);
        parts.chain(self.wait.iter_mut().map(|wait| &mut wait.of)).collect()
    }

    pub(super) fn ensure_valid(&self, args: &[String]) -> anyhow::Result<()> {
        let unknown = self
            .suspects
            .iter()
            .find(|suspect| SUSPECTS.iter().all(|known| known.name != *suspect));
        ensure!(
            unknown.is_none(),
            "`suspects` has one that is not on the list in prediction.rs: {unknown:?}"
        );
        ensure!(!self.suspects.is_empty(), "`suspects` is empty");
        ensure!(self.speed > 1.0, "`speed` has to be above 1");
        let is_proven = !self.at_most.is_empty() || self.overtaking.is_some();
        ensure!(
            is_proven,
            "`[check]` needs `at_most` or `overtaking`: a clock proves no mechanism"
        );
        let flag = self.wait.as_ref().map(|wait| &wait.flag);
        ensure!(
            flag.is_none_or(|flag| args.iter().rev().skip(1).any(|arg| arg == flag)),
            "`wait`: `args` lacks {flag:?} with a value"
        );
        Ok(())
    }
}
