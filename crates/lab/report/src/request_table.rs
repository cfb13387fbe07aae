//! The requests of a visit, a row each.

use lab_stats::Speedup;

use crate::{
    CaseName, CaseRecord, NONE, RequestRecord, Table, gain_or_loss, percent, speedup, time_ms,
};

/// How many requests a screen has.
const ON_SCREEN: usize = 6;
/// The longest name on a screen, in characters.
const LONGEST: usize = 30;

/// How much of the baseline's time the change of a request is, whatever its direction.
fn weight(record: &RequestRecord) -> f64 {
    let share = record.share[0].unwrap_or_default();
    record.speedup.map_or(0.0, |Speedup { estimate, .. }| share * (1.0 - 1.0 / estimate).abs())
}

/// All requests, those first that changed the visit most.
fn by_weight(case: &CaseRecord) -> Vec<&RequestRecord> {
    let mut records: Vec<_> = case.requests.iter().collect();
    records.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
    records
}

fn ms(found: Option<f64>) -> String {
    found.map_or(NONE.to_owned(), time_ms)
}

fn factor(record: &RequestRecord) -> String {
    record.speedup.as_ref().map_or(NONE.to_owned(), speedup)
}

fn share(found: Option<f64>) -> String {
    found.map_or(NONE.to_owned(), percent)
}

/// The requests that changed most, of servers of the user's: what a screen shows. Without rows if a visit has only one.
pub fn on_screen(case: &CaseRecord) -> Table {
    if case.case != CaseName::OwnServers {
        return Table::default();
    }
    let has_cpu = case.requests.iter().any(|record| record.cpu_factor().is_some());
    let row = |record: &RequestRecord| {
        let [before, after] = record.p50_ms.map(ms);
        let mut row =
            vec![record.request.clone(), before, after, factor(record), share(record.share[0])];
        row.extend(has_cpu.then(|| cpu_factor(record)));
        row
    };
    let [baseline, candidate] = case.names();
    let head = ["p50 of", baseline, candidate, "factor", "time"];
    let head = head.into_iter().chain(has_cpu.then_some("CPU/req"));
    let alone = if has_cpu {
        "; CPU/req: the factor of its CPU time, from extra runs of it alone, without an interval"
    } else {
        ""
    };
    let rest = case.requests.len().saturating_sub(ON_SCREEN);
    let more = if rest > 0 { format!("; {rest} more: -v") } else { String::new() };
    let caption = format!(
        "p50 of each request while the others run; time: its share of a visit on {baseline}; each interval is for its \
         request alone{alone}{more}"
    );
    let rows = by_weight(case).into_iter().take(ON_SCREEN).map(row);
    Table::new(caption, head, rows).with_short_names(LONGEST)
}

/// `3.20×`: how many times as much CPU time it took on the baseline.
fn cpu_factor(record: &RequestRecord) -> String {
    record.cpu_factor().map_or(NONE.to_owned(), gain_or_loss)
}

/// The CPU time of each request that was loaded alone; without rows if none was.
pub fn alone(case: &CaseRecord) -> Table {
    let [one, other] = case.names();
    let records = by_weight(case).into_iter().filter(|record| record.cpu_factor().is_some());
    let row = |record: &RequestRecord| {
        let [before, after] = record.cpu_us_per_request.map(|us| ms(us.map(|us| us / 1e3)));
        vec![record.request.clone(), before, after, cpu_factor(record)]
    };
    let caption = "CPU time per request. Each request alone, because the CPU time of a mixture can't be split: extra \
                   runs after the pairs, by turns on both servers, which were started once for that. So the figures \
                   have no interval, and the verdict doesn't depend on them.";
    let head = ["illustration: request alone", one, other, "factor"];
    // A terminal shows no caption.
    let lead = "CPU time per request, from extra runs of each request alone, without intervals:";
    Table { lead: Some(lead.to_owned()), ..Table::new(caption, head, records.map(row)) }
}

/// All requests, with their tails.
pub fn all(case: &CaseRecord) -> Table {
    let row = |record: &RequestRecord| {
        let [p50, other_p50] = record.p50_ms.map(ms);
        let [p99, other_p99] = record.p99_ms.map(ms);
        let [share, other_share] = record.share.map(share);
        let factor = factor(record);
        vec![record.request.clone(), p50, other_p50, factor, p99, other_p99, share, other_share]
    };
    let [one, other] = case.names();
    let caption = "Each request of a visit in the closed loop, those first that changed the visit most: its median run \
                   of each side, the factor of its p50, and its share of the time of a visit. The other requests are \
                   in the server meanwhile, so nobody can say which of them used the CPU time. Each interval is for its request alone.";
    let of = |figure: &str| [one, other].map(|side| format!("{figure} {side}"));
    let [p50, other_p50] = of("p50");
    let [p99, other_p99] = of("p99");
    let [time, other_time] = of("time");
    let head = [
        "request".to_owned(),
        p50,
        other_p50,
        "factor".to_owned(),
        p99,
        other_p99,
        time,
        other_time,
    ];
    Table::new(caption, head, by_weight(case).into_iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(request: &str, share: f64, factor: f64) -> RequestRecord {
        RequestRecord {
            request: request.to_owned(),
            p50_ms: [Some(10.0), Some(10.0 / factor)],
            p99_ms: [None; 2],
            share: [Some(share), None],
            speedup: Speedup::of_pairs([factor; 6]),
            cpu_us_per_request: [None; 2],
        }
    }

    #[test]
    fn what_changed_the_visit_most_comes_first_and_fits_a_screen() {
        let long = format!("GET /{}", "long/".repeat(30));
        let mut requests = vec![record("GET /rare", 0.01, 5.0), record(&long, 0.6, 2.0)];
        requests.extend((0..6).map(|nth| record(&format!("GET /{nth}"), 0.05, 1.0)));
        let case = CaseRecord { requests, case: CaseName::OwnServers, ..CaseRecord::default() };
        let table = on_screen(&case);
        console::set_colors_enabled(false);
        let text = table.text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.lines().nth(1).unwrap().contains("GET /long/long/"), "{text}");
        assert!(text.lines().nth(2).unwrap().contains("GET /rare"), "{text}");
        assert!(table.caption.ends_with("; 2 more: -v"), "{}", table.caption);
        assert_eq!(all(&case).rows.len(), 8);
        // The pages of the course's cases have them among the details only.
        let of_case = CaseRecord { case: "idle-server".into(), ..case };
        assert!(on_screen(&of_case).rows.is_empty());
    }

    #[test]
    fn a_request_that_was_loaded_alone_shows_its_cpu_time_in_80_columns() {
        let slow = |nth: f64| RequestRecord {
            cpu_us_per_request: [Some(1_234_567.0), Some(100_000.0 * nth)],
            p50_ms: [Some(1_234.0), Some(567.8)],
            speedup: Speedup::of_pairs([9.123, 10.345, 11.456, 12.567, 13.678, 14.789]),
            ..record(&format!("GET /{}", "long/".repeat(30)), 0.4, 2.0)
        };
        let requests = vec![slow(1.0), slow(40.0), record("GET /not-alone", 0.2, 1.0)];
        let case = CaseRecord {
            requests,
            case: CaseName::OwnServers,
            variants: ["baseline", "candidate"]
                .map(|name| crate::VariantRecord {
                    variant: name.to_owned(),
                    ..crate::VariantRecord::default()
                })
                .into(),
            candidate: "candidate".to_owned(),
            ..CaseRecord::default()
        };
        console::set_colors_enabled(false);
        let table = on_screen(&case);
        let text = table.text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let cells: Vec<_> = table.rows.iter().map(|row| &*row[5].text).collect();
        assert_eq!(cells, ["12.3×", "3.24× worse", "n/a"]);
        assert!(table.caption.contains("from extra runs of it alone, without an interval"));
        let alone = alone(&case);
        let row: Vec<_> = alone.rows[0].iter().skip(1).map(|cell| &*cell.text).collect();
        assert_eq!((alone.rows.len(), &row[..]), (2, &["1.23 s", "100 ms", "12.3×"][..]));
    }

    #[test]
    fn a_record_from_before_cpu_times_can_be_read_and_is_written_the_same() {
        let old = serde_json::json!({
            "request": "GET /", "p50_ms": [1.5, null], "p99_ms": [null, null], "share": [0.5, 0.5], "speedup": null
        });
        let read: RequestRecord = serde_json::from_value(old.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), old);
        let new = RequestRecord { cpu_us_per_request: [Some(12.5), None], ..read };
        let text = serde_json::to_string(&new).unwrap();
        let again: RequestRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(again.cpu_us_per_request, [Some(12.5), None]);
    }
}
