//! The limit of the server, in one sentence. The card shows it even if there is no suspect.

use serde::Serialize;

use super::{Facts, figure::Figure, thresholds::WATCHED};

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TriageLimit {
    Generator,
    Turns,
    Cpu,
    OneThread,
    OneAtATime,
    FewAtOnce,
    Waits,
    Unclear,
}

/// From this share on, cores count as busy.
const BUSY: f64 = 0.85;

impl TriageLimit {
    pub fn of(facts: &Facts) -> Self {
        let at_least = |figure, least| facts.get(figure).is_some_and(|value: f64| value >= least);
        let at_most = |figure, most| facts.get(figure).is_some_and(|value: f64| value <= most);
        if at_least(Figure::GeneratorLimited, 1.0) {
            Self::Generator
        } else if at_least(Figure::UsedCores, 0.7)
            && at_least(Figure::UnusedCoreShare, 0.2)
            && at_least(Figure::Contenders, 1.2)
            && at_least(Figure::OtherThreads, 0.3)
            && at_most(Figure::WarmAtOnce, 3.0)
        {
            // Threads that wake each other want cores, and leave them unused.
            Self::Turns
        } else if at_least(Figure::WantedCoreShare, BUSY) {
            Self::Cpu
        } else if at_least(Figure::BusiestThreadShare, BUSY) {
            Self::OneThread
        } else if at_most(Figure::WantedCores, 1.2) && at_most(Figure::AtOnce, 1.6) {
            Self::OneAtATime
        } else if at_most(Figure::WantedCoreShare, 0.4) && at_most(Figure::AtOnceShare, 0.7) {
            Self::FewAtOnce
        } else if at_most(Figure::WantedCoreShare, 0.6) {
            Self::Waits
        } else {
            Self::Unclear
        }
    }

    /// What happens at more than the highest rate, within a sentence.
    pub fn short(self) -> &'static str {
        match self {
            Self::Generator => "the load generator is saturated",
            Self::Turns => "threads wait for each other",
            Self::Cpu => "the CPU is busy",
            Self::OneThread => "one thread is busy",
            Self::OneAtATime => "requests are answered one at a time",
            Self::FewAtOnce => "few requests are answered at once",
            Self::Waits | Self::Unclear => "the queue grows",
        }
    }

    pub fn sentence(self, facts: &Facts) -> String {
        let shown = |figure| facts.text(figure).unwrap_or_else(|| lab_report::NONE.to_owned());
        // With few answers, their cost is not known.
        let cost = facts.text(Figure::CpuMs);
        let costs = cost
            .as_ref()
            .map_or("".to_owned(), |cost| format!(" A request takes {cost} of CPU time."));
        let of_which = cost.map_or("".to_owned(), |cost| format!(", of which {cost} is CPU time"));
        match self {
            Self::Generator => format!(
                "The load generator: it was saturated at {}, so the server may be faster.",
                shown(Figure::PeakRps)
            ),
            Self::Turns => format!(
                "Threads wait for each other: the server used {} cores, although {} of all cores stayed unused.{costs}",
                shown(Figure::UsedCores),
                shown(Figure::UnusedCoreShare)
            ),
            Self::Cpu => format!(
                "The CPU: with {WATCHED} users, {} threads ran or waited for a core at a time.{costs}",
                shown(Figure::WantedCores)
            ),
            Self::OneThread => {
                format!(
                    "One thread: it was busy {} of the time.{costs}",
                    shown(Figure::BusiestThreadShare)
                )
            }
            Self::OneAtATime => format!(
                "Requests wait for each other: the server answers one at a time. Each takes {}{of_which}.",
                shown(Figure::TurnMs)
            ),
            Self::FewAtOnce => format!(
                "Requests wait for each other: the server answers {} at a time. Each takes {}{of_which}.",
                shown(Figure::AtOnce),
                shown(Figure::AloneMs)
            ),
            Self::Waits => format!(
                "Nothing up to {} users: a request takes {}{of_which}. It waits for the rest, and other \
                 requests run meanwhile.",
                shown(Figure::Users),
                shown(Figure::AloneMs)
            ),
            Self::Unclear => format!(
                "Not clear: {} at most, while {} threads ran or waited for a core at a time.",
                shown(Figure::PeakRps),
                shown(Figure::WantedCores)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(figures: &[(Figure, f64)]) -> TriageLimit {
        let mut facts = Facts::default();
        figures.iter().for_each(|(figure, value)| facts.put(*figure, *value));
        TriageLimit::of(&facts)
    }

    #[test]
    fn a_busy_core_and_a_wait_are_different_limits() {
        let one = [(Figure::AtOnce, 1.0), (Figure::WantedCoreShare, 0.5)];
        let with = |cores, thread| {
            limit(
                &[&one[..], &[(Figure::WantedCores, cores), (Figure::BusiestThreadShare, thread)]]
                    .concat(),
            )
        };
        assert_eq!(with(1.0, 0.99), TriageLimit::OneThread);
        assert_eq!(with(0.01, 0.01), TriageLimit::OneAtATime);
        assert_eq!(
            limit(&[(Figure::WantedCoreShare, 0.97), (Figure::AtOnce, 2.0)]),
            TriageLimit::Cpu
        );
        let turns = [
            (Figure::WarmAtOnce, 1.5),
            (Figure::WantedCoreShare, 1.0),
            (Figure::UsedCores, 1.2),
            (Figure::UnusedCoreShare, 0.37),
            (Figure::Contenders, 2.6),
            (Figure::OtherThreads, 2.4),
        ];
        assert_eq!(limit(&turns), TriageLimit::Turns);
        let few = [
            (Figure::AtOnceShare, 0.1),
            (Figure::WantedCoreShare, 0.02),
            (Figure::WantedCores, 0.04),
        ];
        assert_eq!(limit(&few), TriageLimit::FewAtOnce);
        let wait = [(Figure::AtOnceShare, 0.98), (Figure::WantedCoreShare, 0.1)];
        assert_eq!(limit(&wait), TriageLimit::Waits);
        assert_eq!(
            limit(&[(Figure::GeneratorLimited, 1.0), (Figure::WantedCores, 0.3)]),
            TriageLimit::Generator
        );
        assert_eq!(limit(&[]), TriageLimit::Unclear);
    }
}
