//! What the slowest requests waited for, in the spans that the server recorded of them.

use std::collections::BTreeMap;

use lab_stats::mean_ratio;
use serde::Serialize;

use super::{
    FACTOR, FEWEST, FEWEST_SLOW, FEWEST_TIMES, LEAST, SHORTEST_US, SLOWEST, Tail,
    windows::TOGETHER_US,
};
use crate::{Spans, TracedRequest};

/// Fewer spans than this part of the slow requests are about as long: they waited elsewhere.
const ELSEWHERE: usize = 10;

/// The slowest requests by their outermost spans, and what differs within.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpanTail {
    /// How many requests are slow, and of how many.
    pub slow: usize,
    pub of: usize,
    /// How long the fastest of them took.
    pub from_ms: f64,
    #[serde(flatten)]
    pub cause: SpanCause,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum SpanCause {
    /// Spans that take longer in them, the one that takes most first; empty if nothing differs.
    Spans {
        /// How much longer they take than the rest, on average.
        more_ms: f64,
        /// At how many different times they came.
        times: usize,
        shares: Vec<SpanShare>,
    },
    /// No span took so long: they waited before their first one, or after their last one.
    Elsewhere,
}

/// The part of the additional time that requests spent in a span, and in none within it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpanShare {
    pub name: String,
    /// Whether it is the request itself, outside of all its parts.
    pub is_request: bool,
    /// The share, and its interval. Above 1, other spans are shorter in the slow requests.
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

/// A request that was answered.
struct Timed {
    start_us: u64,
    lasted_us: u64,
    /// The time in each span and in none within it. The key says whether it is the request itself.
    own_us: BTreeMap<(bool, String), u64>,
}

impl SpanTail {
    /// Of the requests that began at this time or later. `tail` is that of the arrivals, if each of them makes one
    /// request. `None` without a tail, with too few requests, or if they came at too few different times.
    pub fn of(spans: &Spans, since_us: u64, tail: Option<&Tail>) -> Option<Self> {
        // Of earlier ones, some don't fit into the server's memory: perhaps the longest, or the shortest.
        let since_us = since_us.max(spans.complete_since_us);
        let all = spans.requests(&BTreeMap::new()).into_iter();
        let all: Vec<_> = all.filter(|request| request.start_us >= since_us).collect();
        let open_us: Vec<_> = all
            .iter()
            .filter(|request| request.end_us.is_none())
            .map(|request| spans.now_us.saturating_sub(request.start_us))
            .collect();
        let timed: Vec<_> = all.iter().filter_map(timed).collect();
        let mut lasted: Vec<_> = timed.iter().map(|request| request.lasted_us).collect();
        lasted.sort_unstable();
        if lasted.len() < FEWEST {
            return None;
        }
        let found = SLOWEST.iter().filter_map(|one_in| {
            let of = lasted.len();
            let from_us = lasted[of - FEWEST_SLOW.max(of / one_in)];
            let is_slow = from_us >= SHORTEST_US && from_us >= FACTOR * lasted[of / 2];
            is_slow.then(|| slowest(&timed, &open_us, from_us)).flatten()
        });
        let mut found: Vec<_> = found.collect();
        match found.iter().position(Self::is_explained).unwrap_or(0) {
            best if best < found.len() => Some(found.swap_remove(best)),
            _ => fewer(&timed, &open_us, tail?),
        }
    }

    fn is_explained(&self) -> bool {
        matches!(&self.cause, SpanCause::Spans { shares, .. } if !shares.is_empty())
    }
}

fn timed(request: &TracedRequest) -> Option<Timed> {
    let lasted_us = request.end_us?.saturating_sub(request.start_us);
    let mut own_us = BTreeMap::new();
    for (mut stack, us) in request.own_times() {
        let is_request = stack.len() == 1;
        *own_us.entry((is_request, stack.pop()?)).or_default() += us;
    }
    Some(Timed { start_us: request.start_us, lasted_us, own_us })
}

/// What takes longer in those that took so long. `None` if they came at too few different times.
fn slowest(requests: &[Timed], open_us: &[u64], from_us: u64) -> Option<SpanTail> {
    let slow: Vec<_> = requests.iter().filter(|it| it.lasted_us >= from_us).collect();
    // Nobody knows what those waited for that have no end.
    if 2 * open_us.iter().filter(|us| **us >= from_us).count() > slow.len() {
        return None;
    }
    // Those in between are neither slow nor usual.
    let rest: Vec<_> = requests.iter().filter(|it| it.lasted_us < from_us / 2).collect();
    let times = times(&slow);
    let usual_us = mean(&rest, &|it| it.lasted_us);
    let more: Vec<_> = times.iter().map(|its| mean(its, &|it| it.lasted_us) - usual_us).collect();
    if times.len() < FEWEST_TIMES {
        return None;
    }
    let mut keys: Vec<_> = slow.iter().flat_map(|it| it.own_us.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let share = |key: &(bool, String)| {
        let own = |it: &Timed| it.own_us.get(key).copied().unwrap_or_default();
        // Of thousands of requests, this mean is known far better than those of the slow ones.
        let usual_us = mean(&rest, &own);
        let pairs = times.iter().zip(&more).map(|(its, more)| [mean(its, &own) - usual_us, *more]);
        let [share, low, high] = mean_ratio(&pairs.collect::<Vec<_>>())?;
        let (is_request, name) = key.clone();
        (low > 0.0 && share >= LEAST).then_some(SpanShare { name, is_request, share, low, high })
    };
    let mut shares: Vec<_> = keys.into_iter().filter_map(share).collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    let more_ms = more.iter().sum::<f64>() / more.len() as f64 / 1e3;
    Some(SpanTail {
        slow: slow.len(),
        of: requests.len(),
        from_ms: from_us as f64 / 1e3,
        cause: SpanCause::Spans { more_ms, times: times.len(), shares },
    })
}

/// Slow requests that come together met the same thing, so that each time counts once. Where one of them always waits,
/// a time is twice as long as the longest of them.
fn times<'a>(slow: &[&'a Timed]) -> Vec<Vec<&'a Timed>> {
    let longest_us = slow.iter().map(|it| it.lasted_us).max().unwrap_or_default();
    let mut times: Vec<Vec<&Timed>> = Vec::new();
    let (mut first_us, mut end_us) = (0, 0);
    for request in slow {
        let is_together = request.start_us <= end_us + TOGETHER_US
            && request.start_us - first_us <= 2 * longest_us;
        match times.last_mut().filter(|_| is_together) {
            Some(last) => last.push(request),
            None => {
                first_us = request.start_us;
                times.push(vec![request]);
            }
        }
        end_us = end_us.max(request.start_us + request.lasted_us);
    }
    times
}

fn mean(requests: &[&Timed], of: &dyn Fn(&Timed) -> u64) -> f64 {
    requests.iter().map(|it| of(it) as f64).sum::<f64>() / requests.len().max(1) as f64
}

/// Of arrivals with this tail, if fewer spans than the slowest hundredth are long: the server sees as many requests at a
/// time as there are connections, and the others wait for one of these.
fn fewer(requests: &[Timed], open_us: &[u64], tail: &Tail) -> Option<SpanTail> {
    let half_us = (1e3 * tail.from_ms / 2.0) as u64;
    let lasted_us = requests.iter().map(|it| &it.lasted_us);
    let long = lasted_us.chain(open_us).filter(|us| **us >= half_us).count();
    if ELSEWHERE * long >= tail.slow {
        return slowest(requests, open_us, half_us).filter(|found| found.slow >= FEWEST_SLOW);
    }
    let Tail { slow, of, from_ms, .. } = *tail;
    Some(SpanTail { slow, of, from_ms, cause: SpanCause::Elsewhere })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    /// A request each millisecond of six seconds, whose parts last so many microseconds, one after the other.
    fn spans(parts: impl Fn(u64) -> Vec<(&'static str, u64)>) -> Spans {
        let mut spans = Vec::new();
        for ms in 0..6_000 {
            let (root, start_us) = (10 * ms + 1, 1_000 * ms);
            let mut at_us = start_us + 10;
            let mut children = Vec::new();
            for (nth, (name, us)) in (1..).zip(parts(ms)) {
                let end_us = Some(at_us + us);
                let (name, parent) = (name.to_owned(), Some(root));
                children.push(Span { id: root + nth, parent, name, start_us: at_us, end_us });
                at_us += us;
            }
            let (name, end_us) = ("request".to_owned(), Some(at_us + 10));
            spans.push(Span { id: root, parent: None, name, start_us, end_us });
            spans.extend(children);
        }
        Spans { spans, now_us: 6_100_000, ..Spans::default() }
    }

    /// The first 40 ms of each half second.
    fn stalls(ms: u64) -> bool {
        ms % 500 < 40
    }

    fn stalled(ms: u64) -> Vec<(&'static str, u64)> {
        let wait = if stalls(ms) { 40_000 - 1_000 * (ms % 500) } else { 50 };
        vec![("lock wait", wait), ("query", 200 + ms % 7)]
    }

    fn shares(found: &SpanTail) -> Vec<(&str, bool)> {
        let SpanCause::Spans { shares, .. } = &found.cause else { panic!("{found:?}") };
        shares.iter().map(|it| (it.name.as_str(), it.is_request)).collect()
    }

    fn client(from_ms: f64) -> Tail {
        Tail {
            slow: 60,
            of: 6_000,
            from_ms,
            median_ms: 0.3,
            times: 12,
            company: None,
            difference: None,
            may_differ: false,
            held: None,
        }
    }

    #[test]
    fn the_cause_is_the_span_that_is_longer() {
        let found = SpanTail::of(&spans(stalled), 0, None).unwrap();
        assert_eq!(shares(&found), [("lock wait", false)]);
        let SpanCause::Spans { more_ms, times, shares } = &found.cause else { panic!() };
        assert_eq!((found.of, *times), (6_000, 12));
        assert!(found.from_ms > 30.0 && *more_ms > 30.0, "{found:?}");
        let SpanShare { share, low, high, .. } = shares[0];
        assert!((share - 1.0).abs() < 0.01 && low > 0.98 && high < 1.02, "{found:?}");
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(
            (&json["cause"], &json["shares"][0]["name"]),
            (&"spans".into(), &"lock wait".into())
        );
    }

    #[test]
    fn two_causes_have_their_shares_and_a_request_may_be_slow_outside_of_its_parts() {
        let both = |ms| {
            let wait = if stalls(ms) { 20_000 } else { 50 };
            vec![("lock wait", wait), ("query", wait + 100)]
        };
        let found = SpanTail::of(&spans(both), 0, None).unwrap();
        let mut names = shares(&found);
        names.sort_unstable();
        assert_eq!(names, [("lock wait", false), ("query", false)]);
        let mut alone = spans(stalled);
        alone.spans.retain(|span| span.name != "lock wait");
        assert_eq!(shares(&SpanTail::of(&alone, 0, None).unwrap()), [("request", true)]);
    }

    #[test]
    fn nothing_differs_if_each_slow_request_waits_for_something_else() {
        const PARTS: [&str; 5] = ["a", "b", "c", "d", "e"];
        let any = |ms: u64| {
            let slow = (ms / 500 % 5) as usize;
            let us = |nth| if stalls(ms) && nth == slow { 40_000 } else { 50 };
            PARTS.iter().enumerate().map(|(nth, name)| (*name, us(nth))).collect()
        };
        assert_eq!(shares(&SpanTail::of(&spans(any), 0, None).unwrap()), []);
    }

    #[test]
    fn only_requests_count_that_began_in_time_and_of_which_no_span_is_missing() {
        let all = spans(stalled);
        let of = |spans: &Spans, since_us| SpanTail::of(spans, since_us, None).map(|it| it.of);
        assert_eq!(of(&all, 2_000_000), Some(4_000));
        let dropped = Spans { dropped: 9_000, complete_since_us: 3_000_000, ..all.clone() };
        assert_eq!(of(&dropped, 2_000_000), Some(3_000));
        let most = Spans { complete_since_us: 5_900_000, ..dropped };
        assert_eq!(of(&most, 0), None);
        // Two times.
        assert_eq!(of(&all, 5_000_000), None);
        // The slow ones have no end.
        let mut open = spans(stalled);
        for span in &mut open.spans {
            span.end_us = span.end_us.filter(|end| end - span.start_us < 5_000);
        }
        assert_eq!(of(&open, 0), None);
    }

    #[test]
    fn requests_may_wait_where_no_span_is() {
        let quick = spans(|_| vec![("query", 200)]);
        assert_eq!(SpanTail::of(&quick, 0, None), None);
        let found = SpanTail::of(&quick, 0, Some(&client(25.0))).unwrap();
        assert_eq!((found.slow, found.cause), (60, SpanCause::Elsewhere));
        let tail = client(25.0);
        assert_eq!(shares(&SpanTail::of(&spans(stalled), 0, Some(&tail)).unwrap()).len(), 1);
    }

    #[test]
    fn a_few_requests_that_wait_in_the_server_explain_those_that_wait_for_their_connections() {
        // Two in each stall.
        let few = |ms: u64| vec![("lock wait", if ms % 500 < 2 { 40_000 } else { 50 })];
        assert_eq!(SpanTail::of(&spans(few), 0, None), None);
        let found = SpanTail::of(&spans(few), 0, Some(&client(40.0))).unwrap();
        assert_eq!((found.slow, found.from_ms, shares(&found).len()), (24, 20.0, 1));
    }

    #[test]
    fn slow_requests_of_which_one_always_waits_come_at_many_times() {
        // Each tenth.
        let always = |ms| vec![("lock wait", if ms % 10 == 0 { 30_000 } else { 50 })];
        let found = SpanTail::of(&spans(always), 0, None).unwrap();
        let SpanCause::Spans { times, shares, .. } = found.cause else { panic!() };
        assert!(times > 50 && shares[0].name == "lock wait" && shares[0].low > 0.9, "{times}");
    }
}
