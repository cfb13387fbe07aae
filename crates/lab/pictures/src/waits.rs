//! The time of a request by what it waited for: the stacks of a wait flame graph.

use std::time::Duration;

use lab_report::{Table, thousands, time_ms};

use lab_observation::{Folded, Spans};

/// The time of the answered requests, and how many had no answer.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Nanoseconds per answered request, on average; the outermost frame is the request.
    pub stacks: Folded,
    answered: u64,
    /// How many requests were still open.
    open: u64,
    /// For how long the first of them had been open.
    longest_open: Option<Duration>,
    /// How many spans the server dropped.
    dropped: u64,
}

impl Waits {
    pub fn of(spans: &Spans) -> Self {
        let requests = spans.requests(&Default::default());
        let (answered, open): (Vec<_>, Vec<_>) =
            requests.iter().partition(|request| request.end_us.is_some());
        let count = answered.len() as u64;
        let total: Folded = answered.into_iter().flat_map(|it| it.own_times()).collect();
        let mean = |(stack, us): (&[String], u64)| (stack.to_vec(), us * 1000 / count.max(1));
        let longest = open.iter().map(|request| spans.now_us.saturating_sub(request.start_us));
        Self {
            stacks: total.iter().map(mean).filter(|(_, ns)| *ns > 0).collect(),
            answered: count,
            open: open.len() as u64,
            longest_open: longest.max().map(Duration::from_micros),
            dropped: spans.dropped,
        }
    }

    /// Whether requests were still open that had waited for longer than the mean: the end of the
    /// recording cut them off, and the true mean is higher.
    pub fn is_cut_off(&self) -> bool {
        self.longest_open.is_some_and(|it| it.as_nanos() > u128::from(self.stacks.total()))
    }

    /// The waits as a table, with what the average leaves out.
    pub fn table(&self, server: &str) -> Table {
        let total = self.stacks.total().max(1) as f64;
        let rows = self.stacks.iter().map(|(stack, ns)| {
            let name = match stack {
                [_, parts @ ..] if !parts.is_empty() => parts.join(" → "),
                _ => "the rest".to_owned(),
            };
            let share = format!("{:.1} %", 100.0 * ns as f64 / total);
            (ns, vec![name, time_ms(ns as f64 / 1e6), share])
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
        let head = ["the request", "mean per request", "share"];
        Table::new(self.caption(server), head, rows.into_iter().map(|(_, row)| row))
    }

    fn caption(&self, server: &str) -> String {
        let answered = thousands(self.answered as f64);
        let mut caption = format!("{server}: the mean of {answered} answered requests.");
        if let Some(longest) = self.longest_open {
            caption += &format!(" {} more were still open", thousands(self.open as f64));
            caption += &if self.is_cut_off() {
                format!(
                    ", one for {}: the mean leaves them out and is too low.",
                    time_ms(longest.as_secs_f64() * 1e3)
                )
            } else {
                ".".to_owned()
            };
        }
        if self.dropped > 0 {
            caption += &format!(" The server dropped {} spans.", thousands(self.dropped as f64));
        }
        caption
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_observation::{Part, TracedRequest};

    fn own(end_us: u64, parts: &[(&str, u64, u64)]) -> Folded {
        let part = |&(name, start_us, end_us): &(&str, _, _)| Part {
            name: name.to_owned(),
            role: None,
            start_us,
            end_us,
        };
        let parts = parts.iter().map(part).collect();
        let name = "request".to_owned();
        let request = TracedRequest { name, start_us: 0, end_us: Some(end_us), parts };
        request.own_times().into_iter().collect()
    }

    #[test]
    fn what_lies_within_another_part_is_drawn_on_top_of_it_and_counts_once() {
        let slow = [("lock wait", 0, 900), ("lock held", 900, 990), ("downstream", 905, 985)];
        assert_eq!(
            own(1000, &slow).to_string(),
            "request 10\nrequest;lock held 10\nrequest;lock held;downstream 80\n\
             request;lock wait 900\n"
        );
        let fixed = [("lock wait", 0, 1), ("lock held", 1, 3), ("downstream", 3, 83)];
        assert_eq!(
            own(90, &fixed).to_string(),
            "request 7\nrequest;downstream 80\nrequest;lock held 2\nrequest;lock wait 1\n"
        );
        // Parts that overlap by a tick of the clock still add up to the request.
        assert_eq!(own(100, &[("lock held", 10, 50), ("downstream", 40, 101)]).total(), 100);
    }

    #[test]
    fn the_mean_is_of_answered_requests_and_the_caption_names_the_others() {
        let spans: Spans = serde_json::from_str(
            r#"{ "dropped": 0, "now_us": 9000000, "spans": [
                { "id": 1, "parent": null, "name": "request", "start_us": 0, "end_us": 3000 },
                { "id": 2, "parent": 1, "name": "lock wait", "start_us": 0, "end_us": 2000 },
                { "id": 3, "parent": null, "name": "request", "start_us": 0, "end_us": 1000 },
                { "id": 4, "parent": null, "name": "request", "start_us": 500000, "end_us": null }
            ] }"#,
        )
        .unwrap();
        let waits = Waits::of(&spans);
        assert_eq!(waits.stacks.to_string(), "request 1000000\nrequest;lock wait 1000000\n");
        let table = waits.table("slow");
        assert!(
            table.caption.contains("2 answered requests. 1 more were still open, one for 8.50 s")
        );
        assert_eq!(table.rows[1], ["lock wait", "1.00 ms", "50.0 %"]);
    }
}
