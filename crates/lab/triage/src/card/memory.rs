//! The memory under load, in words.

use lab_report::significant;
use lab_stats::Slope;
use serde::Serialize;

use super::super::{
    figure::bytes,
    measure::{MemoryGrowth, MemoryVerdict, WATCHED},
};

/// Whether memory grows, and what would show it.
#[derive(Debug, Serialize)]
pub struct MemoryAnswer {
    #[serde(flatten)]
    pub verdict: MemoryVerdict,
    pub bytes_per_request: [f64; 3],
    pub mib_per_minute: [f64; 3],
    pub sentence: String,
}

impl MemoryAnswer {
    pub fn of(growth: &MemoryGrowth) -> Self {
        let numbers = |slope: Slope| [slope.estimate, slope.low, slope.high];
        Self {
            verdict: growth.verdict,
            bytes_per_request: numbers(growth.bytes_per_request),
            mib_per_minute: numbers(growth.mib_per_minute),
            sentence: sentence(growth),
        }
    }
}

/// `1.02 kB a request (1.00 kB to 1.05 kB), 410 MiB a minute with 16 users`.
fn slope(growth: &MemoryGrowth) -> String {
    let Slope { estimate, low, high } = growth.bytes_per_request;
    let [estimate, low, high] = [estimate, low, high].map(bytes);
    let minute = significant(growth.mib_per_minute.estimate.abs());
    let sign = if growth.mib_per_minute.estimate < 0.0 { "−" } else { "" };
    format!(
        "{estimate} a request ({low} to {high}), {sign}{minute} MiB a minute with {WATCHED} users"
    )
}

fn sentence(growth: &MemoryGrowth) -> String {
    let slope = slope(growth);
    let [before, after] = [growth.before_mib, growth.after_mib].map(significant);
    match growth.verdict {
        MemoryVerdict::Grows => format!(
            "Memory grows: {slope}, as fast at the end as before. A cache that is larger than {after} MiB looks the \
             same until it is full."
        ),
        MemoryVerdict::FillsUp => format!(
            "Memory filled up: it rose from {before} to {after} MiB and then stayed: {slope}."
        ),
        MemoryVerdict::Flat => format!("Memory stays at {after} MiB: {slope}."),
        MemoryVerdict::Unclear { seconds } => format!(
            "Memory rose to {after} MiB: {slope}. A leak and a cache that fills look alike so far; about {:.0} s more \
             of this load would tell. Start the server yourself and run `lab triage --url URL` twice: the second \
             run goes on where the first has ended.",
            seconds.max(1.0)
        ),
        MemoryVerdict::Collected => format!(
            "Memory rose to {after} MiB, into a heap that the runtime had reserved: {slope}. It frees nothing before \
             it collects, so look at what is in use after a collection."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verdict_has_its_slope_and_the_next_step() {
        let slope = |estimate| Slope { estimate, low: estimate - 25.0, high: estimate + 25.0 };
        let growth = |verdict| MemoryGrowth {
            verdict,
            bytes_per_request: slope(1024.0),
            mib_per_minute: slope(410.0),
            before_mib: 12.0,
            after_mib: 96.0,
        };
        let said = |verdict| MemoryAnswer::of(&growth(verdict)).sentence;
        let slope = "1.02 kB a request (999 bytes to 1.05 kB), 410 MiB a minute with 16 users";
        for (verdict, parts) in [
            (MemoryVerdict::Grows, ["Memory grows: ", "larger than 96.0 MiB"]),
            (MemoryVerdict::FillsUp, ["rose from 12.0 to 96.0 MiB", "then stayed"]),
            (MemoryVerdict::Flat, ["Memory stays at 96.0 MiB", "."]),
            (MemoryVerdict::Unclear { seconds: 39.7 }, ["about 40 s more", "lab triage --url"]),
            (MemoryVerdict::Collected, ["had reserved", "after a collection"]),
        ] {
            let said = said(verdict);
            assert!(parts.iter().all(|part| said.contains(part)) && said.contains(slope), "{said}");
        }
        let json = serde_json::to_value(MemoryAnswer::of(&growth(MemoryVerdict::Unclear {
            seconds: 40.0,
        })));
        let json = json.unwrap();
        assert_eq!((&json["verdict"], &json["seconds"]), (&"unclear".into(), &40.0.into()));
    }
}
