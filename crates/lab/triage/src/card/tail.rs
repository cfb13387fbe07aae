//! Why the slowest requests are slow, as a sentence.

use lab_report::{percent, thousands, time_ms};
use serde::Serialize;

use crate::tail::{Cause, Company, Held, Tail, TailDifference};

/// System calls that wait for the disk.
const DISK: [&str; 6] = ["fsync", "fdatasync", "sync_file_range", "msync", "pread64", "pwrite64"];

#[derive(Clone, Debug, Serialize)]
pub struct TailAnswer {
    #[serde(flatten)]
    pub tail: Tail,
    /// The answer as a sentence.
    pub sentence: String,
}

impl From<Tail> for TailAnswer {
    fn from(tail: Tail) -> Self {
        Self { sentence: tail.in_words(), tail }
    }
}

impl Tail {
    fn in_words(&self) -> String {
        let Self { slow, of, from_ms, .. } = self;
        let company = self.company.map_or("", Company::in_words);
        let differs = match (&self.difference, &self.held) {
            (None, Some(Held { cause, threads, low, high })) => format!(
                "each held a thread: {}, {threads:.2} threads more for each ({low:.2} to {high:.2})",
                cause.in_words()
            ),
            (None, None) => {
                "nothing differs: the threads did what they do at other times".to_owned()
            }
            (Some(TailDifference { cause, slow_share, other_share, low, high }), _) => format!(
                "{} {} of the time, and {} at other times (difference {:.0} to {:.0} points)",
                cause.in_words(),
                percent(*slow_share),
                percent(*other_share),
                100.0 * low,
                100.0 * high
            ),
        };
        format!(
            "While the slowest {} of {} waited ({} or more), {company}{differs}.",
            thousands(*slow as f64),
            thousands(*of as f64),
            time_ms(*from_ms),
        )
    }
}

impl Company {
    fn in_words(self) -> &'static str {
        match self {
            Self::Alone => "later requests were answered, and ",
            Self::Everyone => "no request was answered, and ",
            Self::Queue => "earlier requests were answered one after the other, and ",
        }
    }
}

impl Cause {
    fn in_words(&self) -> String {
        match self {
            Self::Stopped => "a process was stopped by a signal".to_owned(),
            Self::Collects { thread } => format!("`{thread}` collected garbage"),
            Self::Stolen => "the host gave CPU time to other virtual machines".to_owned(),
            Self::NoCore => "a thread was ready, but waited for a core".to_owned(),
            Self::Unseen => "the whole machine stood still, `lab` included".to_owned(),
            Self::Runs { thread } => format!("`{thread}` ran"),
            Self::Blocked { thread, call } => format!("`{thread}` {}", blocked(call)),
            Self::AllBlocked { thread, call } => {
                format!("all threads `{thread}` {}", blocked(call))
            }
            Self::NoneRuns => "none of the server's threads ran".to_owned(),
        }
    }
}

fn blocked(call: &str) -> String {
    let why = if DISK.contains(&call) { "waited for the disk" } else { "waited" };
    format!("{why} in `{call}`")
}
