//! Where a request spends its time, waits and all: the input of a wait flame graph.

use std::time::Duration;

use super::{
    Folded,
    page::Table,
    spans::{Kind, Request, Spans},
};
use crate::display::{thousands, time_ms};

/// The time of the requests that were answered, and how many were not.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Nanoseconds per answered request, on average; the outermost frame is the request.
    pub folded: Folded,
    /// How many requests were answered, and are averaged here.
    pub answered: u64,
    /// How many still waited for their answer when the record was read.
    pub open: u64,
    /// For how long the one of those that came first had waited.
    pub longest_open: Option<Duration>,
    /// How many spans did not fit into the record.
    pub dropped: u64,
}

impl Waits {
    /// Adds up the parts of every request that was answered.
    pub fn of(spans: &Spans) -> Self {
        let requests = spans.requests();
        let ended: Vec<_> = requests.iter().filter(|request| request.end_us.is_some()).collect();
        let answered = ended.len() as u64;
        let total: Folded = ended.into_iter().flat_map(own_times).collect();
        let mean = |(stack, us): (&[String], u64)| (stack.to_vec(), us * 1000 / answered.max(1));
        let open = requests.iter().filter(|request| request.end_us.is_none());
        let longest = open.clone().map(|request| request.start_us).min();
        Self {
            folded: total.iter().map(mean).filter(|(_, ns)| *ns > 0).collect(),
            answered,
            open: open.count() as u64,
            longest_open: longest
                .map(|start| Duration::from_micros(spans.now_us.saturating_sub(start))),
            dropped: spans.dropped,
        }
    }

    /// The same as text, with what the average leaves out.
    pub fn table(&self, variant: &str) -> Table {
        let total = self.folded.total().max(1) as f64;
        let rows = self.folded.iter().map(|(stack, ns)| {
            let name = match stack {
                [_, parts @ ..] if !parts.is_empty() => parts.join(" → "),
                _ => "the rest".to_owned(),
            };
            let share = format!("{:.1} %", 100.0 * ns as f64 / total);
            (ns, vec![name, time_ms(ns as f64 / 1e6), share])
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
        Table {
            caption: self.caption(variant),
            head: ["the request", "mean per request", "share"].map(str::to_owned).to_vec(),
            rows: rows.into_iter().map(|(_, row)| row).collect(),
        }
    }

    fn caption(&self, variant: &str) -> String {
        let mut caption = format!(
            "{variant}: the mean of {} answered requests.",
            thousands(self.answered as f64)
        );
        if let (Some(longest), 1..) = (self.longest_open, self.open) {
            let open = thousands(self.open as f64);
            caption += &format!(" {open} more still waited for their answer");
            // Those that wait longest are missing, so the mean flatters.
            caption += &match longest.as_nanos() > u128::from(self.folded.total()) {
                true => format!(
                    ", one for {}: they are not in it, so it is too low.",
                    time_ms(longest.as_secs_f64() * 1e3)
                ),
                false => ".".to_owned(),
            };
        }
        if self.dropped > 0 {
            let dropped = thousands(self.dropped as f64);
            caption += &format!(" {dropped} spans did not fit into the record.");
        }
        caption
    }
}

/// What a request spent in each nest of its parts and in nothing deeper, in microseconds.
///
/// All parts are children of the request, whatever the code looks like: what lies within another
/// *in time* is drawn on top of it, so that no microsecond has two widths.
fn own_times(request: &Request) -> Vec<(Vec<String>, u64)> {
    let end_us = request.end_us.unwrap_or(request.start_us).max(request.start_us);
    let mut times = vec![(Vec::new(), end_us - request.start_us)];
    // The nest of parts at hand: where each ends, and the index of its own time.
    let mut nest = vec![(end_us, 0)];
    times[0].0.push(Kind::Request.name().to_owned());
    for part in &request.parts {
        while nest.len() > 1 && nest.last().is_some_and(|(end, _)| *end <= part.start_us) {
            nest.pop();
        }
        let Some(&(outer_end, outer)) = nest.last() else { continue };
        // A clock's grain may let a part outlast what it lies in; the overhang is not counted.
        let (start, end) = (part.start_us.max(request.start_us), part.end_us.min(outer_end));
        let lasted = end.saturating_sub(start).min(times[outer].1);
        times[outer].1 -= lasted;
        let mut stack = times[outer].0.clone();
        stack.push(part.kind.name().to_owned());
        times.push((stack, lasted));
        nest.push((end, times.len() - 1));
    }
    times
}

#[cfg(test)]
mod tests;
