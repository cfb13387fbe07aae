//! Why the slowest requests are slow, as a sentence.

use lab_observation::{Cause, Company, Held, Tail, TailDifference};
use serde::Serialize;

use crate::{percent, thousands, time_ms};

/// System calls that wait for the disk.
const DISK: [&str; 6] = ["fsync", "fdatasync", "sync_file_range", "msync", "pread64", "pwrite64"];

/// A tail with its sentence.
#[derive(Clone, Debug, Serialize)]
pub struct TailAnswer {
    #[serde(flatten)]
    pub tail: Tail,
    /// The answer as a sentence.
    pub sentence: String,
}

impl From<Tail> for TailAnswer {
    fn from(tail: Tail) -> Self {
        Self { sentence: in_words(&tail), tail }
    }
}

fn in_words(tail: &Tail) -> String {
    let Tail { slow, of, from_ms, .. } = tail;
    let company = tail.company.map_or("", met);
    let differs = match (&tail.difference, &tail.held) {
        (None, Some(Held { cause, threads, low, high })) => format!(
            "each held a thread: {}, {threads:.2} threads more for each ({low:.2} to {high:.2})",
            did(cause)
        ),
        (None, None) if tail.may_differ => {
            format!("what differs isn't certain: {} different times are too few", tail.times)
        }
        (None, None) => "nothing differs: the threads did what they do at other times".to_owned(),
        (Some(TailDifference { cause, slow_share, other_share, low, high }), _) => format!(
            "{} {} of the time, and {} at other times (difference {:.0} to {:.0} points)",
            did(cause),
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

fn met(company: Company) -> &'static str {
    match company {
        Company::Alone => "later requests were answered, and ",
        Company::Everyone => "no request was answered, and ",
        Company::Queue => "earlier requests were answered one after the other, and ",
    }
}

fn did(cause: &Cause) -> String {
    match cause {
        Cause::Stopped => "a process was stopped by a signal".to_owned(),
        Cause::Collects { thread } => format!("`{thread}` collected garbage"),
        Cause::Stolen => "the host gave CPU time to other virtual machines".to_owned(),
        Cause::NoCore => "a thread was ready, but waited for a core".to_owned(),
        Cause::Unseen => "the whole machine stood still, `lab` included".to_owned(),
        Cause::Runs { thread } => format!("`{thread}` ran, or was ready to,"),
        Cause::Blocked { thread, call } => format!("`{thread}` {}", blocked(call)),
        Cause::AllBlocked { thread, call } => format!("all threads `{thread}` {}", blocked(call)),
        Cause::NoneRuns => "none of the server's threads ran".to_owned(),
    }
}

fn blocked(call: &str) -> String {
    let why = if DISK.contains(&call) { "waited for the disk" } else { "waited" };
    format!("{why} in `{call}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_who_waited_and_what_differs() {
        let call = "fsync".to_owned();
        let cause = Cause::Blocked { thread: "worker".to_owned(), call };
        let tail = Tail {
            slow: 302,
            of: 30_251,
            from_ms: 25.3,
            median_ms: 0.2,
            times: 12,
            company: Some(Company::Everyone),
            difference: Some(TailDifference {
                cause: cause.clone(),
                slow_share: 0.91,
                other_share: 0.0,
                low: 0.53,
                high: 0.99,
            }),
            may_differ: false,
            held: None,
        };
        let start = "While the slowest 302 of 30,251 waited (25.3 ms or more), ";
        assert_eq!(
            in_words(&tail),
            start.to_owned()
                + "no request was answered, and `worker` waited for the disk in `fsync` 91 % of the time, and none at \
                   other times (difference 53 to 99 points)."
        );
        let held = Held { cause, threads: 0.98, low: 0.9, high: 1.06 };
        let alone = Tail { company: Some(Company::Alone), difference: None, ..tail.clone() };
        let holds = Tail { held: Some(held), ..alone.clone() };
        assert_eq!(
            in_words(&holds),
            start.to_owned()
                + "later requests were answered, and each held a thread: `worker` waited for the disk in `fsync`, 0.98 \
                   threads more for each (0.90 to 1.06)."
        );
        assert_eq!(
            in_words(&alone),
            start.to_owned()
                + "later requests were answered, and nothing differs: the threads did what they do at other times."
        );
        let unsure = Tail { may_differ: true, times: 3, ..alone };
        assert_eq!(
            in_words(&unsure),
            start.to_owned()
                + "later requests were answered, and what differs isn't certain: 3 different times are too few."
        );
        let json = serde_json::to_value(TailAnswer::from(tail)).unwrap();
        assert_eq!(json["difference"]["cause"], "blocked");
        assert_eq!((&json["difference"]["call"], &json["times"]), (&"fsync".into(), &12.into()));
    }
}
