//! The answer of a search for the change that made a difference, in words and for programs.

use std::path::Path;

use lab_protocol::{HistoryChange, Metric};
use lab_stats::{ERROR, Like, Speedup, Verdict};
use serde_json::{Value, json};

use crate::{
    CaseRecord, answer::difference_in_words, factor, join, paragraph, plural, significant,
};

/// `3f2a1b9c0d`, or `tokio 1.50.0 → 1.52.1`
fn name(change: &HistoryChange) -> String {
    match change {
        HistoryChange::Commit { hash, .. } => hash[..hash.len().min(10)].to_owned(),
        HistoryChange::Crates(crates) => {
            crates.iter().flat_map(difference_in_words).collect::<Vec<_>>().join(", ")
        }
    }
}

/// What a change is about: the first line of a commit's message, or the crates.
fn subject(change: &HistoryChange) -> String {
    match change {
        HistoryChange::Commit { subject, .. } => subject.clone(),
        HistoryChange::Crates(_) => name(change),
    }
}

/// The line about the ends of a search, whose difference has this logarithm.
pub fn ends_in_words(ends: &[String; 2], metric: Metric, effect: f64, pairs: usize) -> String {
    let [first, last] = ends;
    let how = worse_or_better(metric, effect);
    let about = factor(effect.abs().exp());
    format!("{last} {how} than {first}: about {about}, in {}", plural(pairs, "pair"))
}

/// The line about a state that was looked at, which this change leads to.
pub fn decided_in_words(
    state: &str,
    like: Like,
    ends: &[String; 2],
    change: &HistoryChange,
) -> String {
    let [first, last] = ends;
    let like = match like {
        Like::First => format!("like {first}"),
        Like::Last => format!("like {last}"),
        Like::Unknown => "not decided".to_owned(),
    };
    format!("{state}  {like}  {}", subject(change))
}

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Commit,
    Crates,
}

impl ChangeKind {
    /// What these changes are.
    pub fn of(changes: &[HistoryChange]) -> Self {
        match changes {
            [HistoryChange::Crates(_), ..] => Self::Crates,
            _ => Self::Commit,
        }
    }

    /// `40 commits`, or `5 groups of crates`
    pub fn count(self, changes: usize) -> String {
        match self {
            Self::Commit => plural(changes, "commit"),
            Self::Crates => format!("{} of crates", plural(changes, "group")),
        }
    }
}

/// How a search among some changes ended.
#[derive(Clone, Debug)]
pub struct SearchAnswer {
    /// `first` and `last`, as the user gave them.
    pub ends: [String; 2],
    pub kind: ChangeKind,
    pub metric: Metric,
    /// How many changes there are.
    pub changes: usize,
    /// How many states were looked at, without the ends.
    pub looked_at: usize,
    /// The logarithm of the factor of the last state over the first one; `None` if they show no difference. Too far from
    /// 0 rather than too near: the pairs ended when they showed a difference.
    pub between_ends: Option<f64>,
    /// How many pairs of runs the ends had.
    pub pairs: usize,
    /// One if the search found it. More can't be told apart, because states between them can't be built or measured.
    pub suspects: Vec<HistoryChange>,
    /// Before and after the one suspect; `None` without one.
    pub confirmation: Option<Box<CaseRecord>>,
}

/// A change that explains less of a difference than this has company.
const MOST_OF_IT: f64 = 0.7;

impl SearchAnswer {
    /// Whether one change was found, and makes a difference in the same direction as the ends.
    pub fn is_confirmed(&self) -> bool {
        let both = self.between_ends.zip(self.confirmation.as_ref());
        both.is_some_and(|(effect, case)| f64::from(case.verdict.direction()) * effect > 0.0)
    }
}

/// How a state with an effect of this sign is.
fn worse_or_better(metric: Metric, effect: f64) -> &'static str {
    match (metric, effect < 0.0) {
        (Metric::PeakMemory, true) => "needs more memory",
        (Metric::PeakMemory, false) => "needs less memory",
        (Metric::Cpu, true) => "needs more CPU time",
        (Metric::Cpu, false) => "needs less CPU time",
        (_, true) => "is slower",
        (_, false) => "is faster",
    }
}

/// `1.11× (1.08–1.14)`, of a loss too.
fn in_words(found: &Speedup) -> String {
    let Speedup { estimate, low, high, .. } = *found;
    let [estimate, low, high] = if estimate < 1.0 {
        [1.0 / estimate, 1.0 / high, 1.0 / low]
    } else {
        [estimate, low, high]
    };
    format!("{} ({}–{})", factor(estimate), significant(low), significant(high))
}

/// The sentences of an answer, the first of which is all that most readers want.
pub fn render_search(answer: &SearchAnswer) -> String {
    let SearchAnswer { ends: [first, last], kind, changes, suspects, .. } = answer;
    let among = kind.count(*changes);
    let Some(between) = answer.between_ends else {
        let pairs = plural(answer.pairs, "pair");
        return paragraph(&format!(
            "{pairs} of runs show no difference between {first} and {last}, so there is nothing to search for among {among}."
        ));
    };
    let how = worse_or_better(answer.metric, between);
    let about = factor(between.abs().exp());
    let [suspect] = &suspects[..] else {
        let names: Vec<_> = suspects.iter().map(name).collect();
        return paragraph(&format!(
            "{last} {how} by about {about}. Of {among}, one of these did it: {}. The states between them can't be built or \
             measured, or are like neither end.",
            join(&names)
        ));
    };
    let confirmed = answer.confirmation.as_ref().filter(|_| answer.is_confirmed());
    let Some(found) = confirmed.and_then(|case| case.speedup.of(case.metric)) else {
        let verdict = answer.confirmation.as_ref().map_or(Verdict::Undecided, |case| case.verdict);
        return paragraph(&format!(
            "{} is the only suspect of {among}, but next to the state before it, it is {verdict}: not confirmed.",
            name(suspect)
        ));
    };
    let mut lines = vec![format!("Since {}, it {how}: {}.", name(suspect), in_words(found))];
    if let HistoryChange::Commit { subject, .. } = suspect {
        lines.push(format!("  {subject}"));
    }
    if *changes > 1 {
        let wrong = (100.0 * ERROR).round();
        lines.push(format!(
            "That is one of {among}, found by looking at {}. At most {wrong} of 100 such searches name a wrong one, if one \
             change made the difference.",
            plural(answer.looked_at, "state")
        ));
    }
    // Even if the change did as much as its interval allows.
    let most = found.low.ln().abs().max(found.high.ln().abs());
    if most < MOST_OF_IT * between.abs() {
        lines.push(format!(
            "It explains only a part: between {first} and {last}, the factor is about {about}. Search again before it or \
             after it."
        ));
    }
    lines.iter().map(|line| paragraph(line)).collect::<Vec<_>>().join("\n")
}

/// The document of `--json`: one answer for each search, the last of which decides the exit code.
pub fn search_for_programs(answers: &[SearchAnswer], record: Option<&Path>) -> String {
    let one = |answer: &SearchAnswer| {
        let names = answer
            .suspects
            .iter()
            .map(|suspect| json!({ "name": name(suspect), "subject": subject(suspect) }));
        let found = answer.confirmation.as_ref();
        json!({
            "first": answer.ends[0],
            "last": answer.ends[1],
            "kind": answer.kind,
            "metric": answer.metric,
            "changes": answer.changes,
            "looked_at": answer.looked_at,
            "between_ends": answer.between_ends.map(f64::exp),
            "suspects": names.collect::<Vec<Value>>(),
            "is_confirmed": answer.is_confirmed(),
            "verdict": found.map(|case| case.verdict),
            "speedup": found.and_then(|case| case.speedup.of(case.metric)),
        })
    };
    let searches: Vec<_> = answers.iter().map(one).collect();
    json!({ "searches": searches, "record": record }).to_string()
}

#[cfg(test)]
mod tests {
    use lab_protocol::Speedups;

    use super::*;

    fn speedup(percent: f64) -> Speedup {
        Speedup::of_pairs([0.98, 0.99, 1.0, 1.0, 1.01, 1.02].map(|noise| noise * percent / 100.0))
            .unwrap()
    }

    fn answer(
        suspects: &[&str],
        ends: Option<f64>,
        confirmed: Option<(Verdict, f64)>,
    ) -> SearchAnswer {
        let commit = |hash: &&str| HistoryChange::Commit {
            hash: (*hash).to_owned(),
            subject: "Move the pool".to_owned(),
        };
        let case = |(verdict, percent)| {
            let speedup = Speedups { throughput: Some(speedup(percent)), ..Speedups::default() };
            Box::new(CaseRecord { verdict, speedup, ..CaseRecord::default() })
        };
        SearchAnswer {
            ends: ["v1".to_owned(), "main".to_owned()],
            kind: ChangeKind::Commit,
            metric: Metric::Throughput,
            changes: 40,
            looked_at: 6,
            between_ends: ends.map(|percent: f64| (percent / 100.0).ln()),
            pairs: 9,
            suspects: suspects.iter().map(commit).collect(),
            confirmation: confirmed.map(case),
        }
    }

    #[test]
    fn an_answer_says_what_was_found_and_how_sure_that_is() {
        let found = answer(&["3f2a1b9c0d"], Some(88.0), Some((Verdict::Slower, 89.0)));
        assert!(found.is_confirmed());
        insta::assert_snapshot!("found", render_search(&found));
        let part = answer(&["3f2a1b9c0d"], Some(80.0), Some((Verdict::SlightlySlower, 96.0)));
        insta::assert_snapshot!("part", render_search(&part));
        let other = answer(&["3f2a1b9c0d"], Some(88.0), Some((Verdict::Faster, 110.0)));
        assert!(!other.is_confirmed());
        insta::assert_snapshot!("not_confirmed", render_search(&other));
        insta::assert_snapshot!(
            "several",
            render_search(&answer(&["3f2a", "77ab"], Some(50.0), None))
        );
        insta::assert_snapshot!("nothing", render_search(&answer(&[], None, None)));
    }
}
