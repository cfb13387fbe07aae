//! Counters of a server, read over a connection of their own.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use http::Uri;
use lab_load::{Fetched, Visitor, address};
use lab_protocol::{Answer, Request};

pub type Reading = BTreeMap<String, u64>;

/// A path that answers with a JSON object of counters.
pub struct Gauge(Visitor);

impl Gauge {
    /// A gauge at `path` of the server at `url`, read in plain HTTP whatever the URL's scheme.
    pub async fn open(url: &Uri, path: &str) -> anyhow::Result<Self> {
        Ok(Self(Visitor::open(address(url)?, &[Request::get(path, Answer::Any)]).await?))
    }

    pub async fn read(&mut self) -> anyhow::Result<Reading> {
        let Fetched { status, body, .. } = self.0.answers().await?.remove(0);
        ensure!(status == 200, "the counters answer with status {status}");
        serde_json::from_slice(&body).context("the counters are not a JSON object of numbers")
    }
}

/// By how much each counter grew between two readings.
pub fn growth(from: &Reading, to: &Reading) -> Reading {
    let grown = |(name, now): (&String, &u64)| {
        (name.clone(), now.saturating_sub(from.get(name).copied().unwrap_or_default()))
    };
    to.iter().map(grown).collect()
}

/// The median growth of each counter from one reading to the next; of two in the middle the smaller,
/// so that it is a value that occurred.
///
/// The median leaves out what only some visits cost: hyper rewrites the date once a second, which is
/// one allocation of 29 bytes, and a shared buffer grows now and then.
pub(super) fn median_growth(readings: &[Reading]) -> Reading {
    let steps: Vec<_> = readings.windows(2).map(|pair| growth(&pair[0], &pair[1])).collect();
    let Some(first) = steps.first() else { return Reading::new() };
    let median = |name: &String| {
        let mut numbers: Vec<_> = steps.iter().filter_map(|step| step.get(name).copied()).collect();
        numbers.sort_unstable();
        (name.clone(), numbers.get((numbers.len() - 1) / 2).copied().unwrap_or_default())
    };
    first.keys().map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_growth_that_occurred() {
        let readings = [0, 13, 27, 40, 130].map(|n| Reading::from([("a".to_owned(), n)]));
        assert_eq!(median_growth(&readings)["a"], 13);
        assert_eq!(median_growth(&readings[1..])["a"], 14);
        assert_eq!(median_growth(&readings[..1]), Reading::new());
    }
}
