//! What random arrivals showed after a recording, in sentences: for the screen only if there is something to say, and for
//! the page always.

use lab_observation::{SlowestRequests, SpanCause, SpanShare, SpanTail};

use crate::{TailAnswer, join, percent, thousands, time_ms};

/// What is shorter has no cause.
const SHORTEST_MS: f64 = 5.0;

/// How fast they were answered, and why the slowest of them are slow. `None` if nothing is known of that.
pub fn slowest(seen: &SlowestRequests) -> Option<String> {
    let why = [by_threads(seen), by_spans(seen)];
    let why: Vec<_> = why.into_iter().flatten().collect();
    (!why.is_empty()).then(|| format!("{}. {}", percentiles(seen), why.join(" ")))
}

/// The same, or why there is nothing to say.
pub fn slowest_or_none(seen: &SlowestRequests) -> String {
    slowest(seen).unwrap_or_else(|| {
        let why = if seen.is_late {
            "nothing is known of the slowest, because the load generator was late itself"
        } else if !seen.are_slow() {
            "no tail, because the slowest hundredth begins below three times the median"
        } else if seen.p99_ms.is_some_and(|ms| ms < SHORTEST_MS) {
            "the slowest hundredth waits for less than 5 ms, which the looks at the threads miss"
        } else {
            "the slowest hundredth waits at too few different times to say why"
        };
        format!("{}: {why}.", percentiles(seen))
    })
}

/// `p50 190 µs, p99 25.3 ms with 5,000 random arrivals per second`
fn percentiles(seen: &SlowestRequests) -> String {
    let percentiles = [("p50", seen.p50_ms), ("p99", seen.p99_ms)];
    let shown =
        percentiles.iter().filter_map(|(name, ms)| Some(format!("{name} {}", time_ms((*ms)?))));
    let (shown, rate) = (shown.collect::<Vec<_>>().join(", "), thousands(seen.rate_per_s));
    format!("{shown} with {rate} random arrivals per second")
}

fn by_threads(seen: &SlowestRequests) -> Option<String> {
    Some(TailAnswer::from(seen.tail.clone()?).sentence)
}

fn by_spans(seen: &SlowestRequests) -> Option<String> {
    let SpanTail { slow, of, from_ms, cause } = seen.spans.as_ref()?;
    let cause = match cause {
        SpanCause::Elsewhere => {
            "In spans, nothing differs: none is so long, so they waited before their first span, or after their last one"
                .to_owned()
        }
        SpanCause::Spans { more_ms, shares, .. } => {
            let longer = format!("the {} that the slowest take longer than the rest", time_ms(*more_ms));
            let shares: Vec<_> = shares.iter().map(share).collect();
            if shares.is_empty() {
                format!("In spans, nothing differs: none accounts for much of {longer}")
            } else {
                format!("In spans, of {longer}, {}", join(&shares))
            }
        }
    };
    // What the threads show says so already.
    let which = seen.tail.is_none().then(|| {
        let [slow, of] = [*slow, *of].map(|count| thousands(count as f64));
        format!("The slowest {slow} of {of} requests took {} or more. ", time_ms(*from_ms))
    });
    Some(format!("{}{cause}.", which.unwrap_or_default()))
}

fn share(SpanShare { name, is_request, share, low, high }: &SpanShare) -> String {
    let name = lab_system::escaped(name);
    let itself = if *is_request { " outside of its parts" } else { "" };
    // Above the whole, other spans are shorter.
    let [low, high] = [low, high].map(|end| 100.0 * end.clamp(0.0, 1.0));
    format!("`{name}`{itself} is {} ({low:.0} to {high:.0} %)", percent(share.min(1.0)))
}

#[cfg(test)]
mod tests {
    use lab_observation::Tail;

    use super::*;

    fn seen(cause: Option<SpanCause>, has_tail: bool) -> SlowestRequests {
        let tail = has_tail.then_some(Tail {
            slow: 60,
            of: 6_000,
            from_ms: 25.0,
            median_ms: 0.2,
            times: 12,
            company: None,
            difference: None,
            may_differ: false,
            held: None,
        });
        SlowestRequests {
            rate_per_s: 1_000.0,
            p50_ms: Some(0.2),
            p99_ms: Some(25.0),
            is_late: false,
            tail,
            spans: cause.map(|cause| SpanTail { slow: 60, of: 6_000, from_ms: 25.0, cause }),
        }
    }

    fn spans(names: &[(&str, bool)]) -> SpanCause {
        let share = |(name, is_request): &(&str, bool)| SpanShare {
            name: (*name).to_owned(),
            is_request: *is_request,
            share: 0.97,
            low: 0.95,
            high: 1.01,
        };
        SpanCause::Spans { more_ms: 31.0, times: 12, shares: names.iter().map(share).collect() }
    }

    #[test]
    fn the_spans_come_after_the_threads() {
        let threads = "p50 200 µs, p99 25.0 ms with 1,000 random arrivals per second. While the slowest 60 of 6,000 waited \
                       (25.0 ms or more), nothing differs: the threads did what they do at other times.";
        assert_eq!(slowest(&seen(None, true)).unwrap(), threads);
        let longer = "the 31.0 ms that the slowest take longer than the rest";
        let wait = &[("lock wait", false)][..];
        let itself = &[("lock wait", false), ("request", true)][..];
        for (cause, says) in [
            (spans(wait), format!("In spans, of {longer}, `lock wait` is 97 % (95 to 100 %).")),
            (
                spans(itself),
                format!(
                    "In spans, of {longer}, `lock wait` is 97 % (95 to 100 %) and `request` outside of its parts is 97 % \
                     (95 to 100 %)."
                ),
            ),
            (spans(&[]), format!("In spans, nothing differs: none accounts for much of {longer}.")),
            (
                SpanCause::Elsewhere,
                "In spans, nothing differs: none is so long, so they waited before their first span, or after their last one."
                    .to_owned(),
            ),
        ] {
            assert_eq!(slowest(&seen(Some(cause), true)).unwrap(), format!("{threads} {says}"));
        }
        let alone = slowest(&seen(Some(spans(wait)), false)).unwrap();
        assert!(
            alone.contains(
                "second. The slowest 60 of 6,000 requests took 25.0 ms or more. In spans, of "
            ),
            "{alone}"
        );
    }

    #[test]
    fn the_screen_is_silent_without_a_cause_and_the_page_says_why() {
        let unknown = seen(None, false);
        assert_eq!(slowest(&unknown), None);
        let short = SlowestRequests { p99_ms: Some(2.0), ..unknown.clone() };
        let none = SlowestRequests { p99_ms: Some(0.5), ..unknown.clone() };
        let late = SlowestRequests { is_late: true, ..unknown.clone() };
        for (seen, says) in [
            (unknown, "the slowest hundredth waits at too few different times to say why."),
            (short, "the slowest hundredth waits for less than 5 ms, "),
            (none, "no tail, because "),
            (late, "nothing is known of the slowest, because the load generator was late "),
        ] {
            let found = slowest_or_none(&seen);
            assert!(found.contains(&format!("random arrivals per second: {says}")), "{found}");
        }
    }
}
