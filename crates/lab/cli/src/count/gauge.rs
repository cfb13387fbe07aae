//! A gauge: somewhere to read numbers that only grow, over a connection of its own.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use hyper::Uri;

use super::client::Client;

/// Numbers by name, as one reading shows them.
pub type Reading = BTreeMap<String, u64>;

/// A path that answers with a JSON object of names and numbers.
pub struct Gauge {
    client: Client,
    path: String,
}

impl Gauge {
    /// A gauge at `path` of the server at `url`, read in plain HTTP whatever the URL's scheme.
    pub async fn open(url: &Uri, path: &str) -> anyhow::Result<Self> {
        Ok(Self { client: Client::open(url).await?, path: path.to_owned() })
    }

    /// What it shows now.
    pub async fn read(&mut self) -> anyhow::Result<Reading> {
        let (status, body) = self.client.get(&self.path).await?;
        ensure!(status == 200, "{} is answered with status {status}", self.path);
        serde_json::from_slice(&body)
            .with_context(|| format!("{} is not answered with names and numbers", self.path))
    }
}

/// By how much each number grew from one reading to the next.
pub fn growth(from: &Reading, to: &Reading) -> Reading {
    let grown = |(name, now): (&String, &u64)| {
        (name.clone(), now.saturating_sub(from.get(name).copied().unwrap_or_default()))
    };
    to.iter().map(grown).collect()
}

/// The median of each number; of two in the middle the smaller, so that it is one that occurred.
///
/// What one page in many costs more is not the price of a page: hyper writes the date anew once a
/// second, which is one allocation of 29 bytes, and a buffer that many requests share has to grow
/// at last.
pub(super) fn median(readings: &[Reading]) -> Reading {
    let Some(first) = readings.first() else { return Reading::new() };
    let median = |name: &String| {
        let mut numbers: Vec<_> = readings.iter().filter_map(|r| r.get(name).copied()).collect();
        numbers.sort_unstable();
        (name.clone(), numbers.get((numbers.len() - 1) / 2).copied().unwrap_or_default())
    };
    first.keys().map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_number_that_occurred() {
        let readings = [13, 14, 13, 90].map(|n| Reading::from([("a".to_owned(), n)]));
        assert_eq!(median(&readings)["a"], 13);
        assert_eq!(median(&readings[1..])["a"], 14);
        assert_eq!(median(&[]), Reading::new());
    }

    #[test]
    fn growth_is_told_by_name() {
        let reading = |a, b| Reading::from([("a".to_owned(), a), ("b".to_owned(), b)]);
        assert_eq!(growth(&reading(1, 5), &reading(3, 5)), reading(2, 0));
        assert_eq!(growth(&Reading::new(), &reading(3, 5)), reading(3, 5));
    }
}
