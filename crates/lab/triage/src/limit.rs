//! What limits the server, in one sentence. The card says this even if there is no suspect.

use serde::Serialize;

use super::{Facts, measure::WATCHED};

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    Generator,
    Cpu,
    OneThread,
    OneAtATime,
    FewAtOnce,
    Waits,
    Unclear,
}

/// From this share on, cores count as busy.
const BUSY: f64 = 0.85;

impl Limit {
    pub fn of(facts: &Facts) -> Self {
        let at_least = |name, least| facts.get(name).is_some_and(|it: f64| it >= least);
        let at_most = |name, most| facts.get(name).is_some_and(|it: f64| it <= most);
        if at_least("generator_limited", 1.0) {
            Self::Generator
        } else if at_least("wanted_core_share", BUSY) {
            Self::Cpu
        } else if at_least("busiest_thread_share", BUSY) {
            Self::OneThread
        } else if at_most("wanted_cores", 0.6) && at_most("at_once", 1.6) {
            Self::OneAtATime
        } else if at_most("wanted_core_share", 0.4) && at_most("at_once_share", 0.7) {
            Self::FewAtOnce
        } else if at_most("wanted_core_share", 0.6) {
            Self::Waits
        } else {
            Self::Unclear
        }
    }

    pub fn sentence(self, facts: &Facts) -> String {
        let shown = |name| facts.shown(name).unwrap_or_else(|| lab_display::NONE.to_owned());
        // With few answers, their cost is not known.
        let cost = facts.shown("cpu_ms");
        let costs =
            cost.as_ref().map_or("".to_owned(), |it| format!(" A request takes {it} of CPU time."));
        let of_which = cost.map_or("".to_owned(), |it| format!(", of which {it} is CPU time"));
        match self {
            Self::Generator => format!(
                "The load generator: it was saturated at {}, so the server may be faster.",
                shown("peak_rps")
            ),
            Self::Cpu => format!(
                "The CPU: with {WATCHED} users, {} threads ran or waited for a core at a time.{costs}",
                shown("wanted_cores")
            ),
            Self::OneThread => {
                format!(
                    "One thread: it was busy {} of the time.{costs}",
                    shown("busiest_thread_share")
                )
            }
            Self::OneAtATime => format!(
                "Requests wait for each other: the server answers one at a time. Each takes {}{of_which}.",
                shown("turn_ms")
            ),
            Self::FewAtOnce => format!(
                "Requests wait for each other: the server answers {} at a time. Each takes {}{of_which}.",
                shown("at_once"),
                shown("alone_ms")
            ),
            Self::Waits => format!(
                "Nothing up to {} users: a request takes {}{of_which}. It waits for the rest, and other \
                 requests run meanwhile.",
                shown("users"),
                shown("alone_ms")
            ),
            Self::Unclear => format!(
                "Not clear: {} at most, while {} threads ran or waited for a core at a time.",
                shown("peak_rps"),
                shown("wanted_cores")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(figures: &[(&str, f64)]) -> Limit {
        let mut facts = Facts::default();
        figures.iter().for_each(|(name, value)| facts.put(name, *value));
        Limit::of(&facts)
    }

    #[test]
    fn a_busy_core_and_a_wait_are_different_limits() {
        let one = [("at_once", 1.0), ("wanted_core_share", 0.5)];
        let with = |cores, thread| {
            limit(
                &[&one[..], &[("wanted_cores", cores), ("busiest_thread_share", thread)]].concat(),
            )
        };
        assert_eq!(with(1.0, 0.99), Limit::OneThread);
        assert_eq!(with(0.01, 0.01), Limit::OneAtATime);
        assert_eq!(limit(&[("wanted_core_share", 0.97), ("at_once", 2.0)]), Limit::Cpu);
        let few = [("at_once_share", 0.1), ("wanted_core_share", 0.02), ("wanted_cores", 0.04)];
        assert_eq!(limit(&few), Limit::FewAtOnce);
        let wait = [("at_once_share", 0.98), ("wanted_core_share", 0.1)];
        assert_eq!(limit(&wait), Limit::Waits);
        assert_eq!(limit(&[("generator_limited", 1.0), ("wanted_cores", 0.3)]), Limit::Generator);
        assert_eq!(limit(&[]), Limit::Unclear);
    }
}
