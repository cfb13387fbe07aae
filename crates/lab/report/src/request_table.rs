//! The requests of a visit, a row each.

use lab_stats::Speedup;

use crate::{CaseName, CaseRecord, NONE, RequestRecord, Table, percent, speedup, time_ms};

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
    let row = |record: &RequestRecord| {
        let name = console::truncate_str(&record.request, LONGEST, "…").into_owned();
        let [before, after] = record.p50_ms.map(ms);
        vec![name, before, after, factor(record), share(record.share[0])]
    };
    let [baseline, candidate] = case.names();
    let head = ["p50 of", baseline, candidate, "factor", "time"];
    let rest = case.requests.len().saturating_sub(ON_SCREEN);
    let more = if rest > 0 { format!("; {rest} more: -v") } else { String::new() };
    let caption = format!(
        "p50 of each request while the others run; time: its share of a visit on {baseline}; each interval is for its \
         request alone{more}"
    );
    Table::new(caption, head, by_weight(case).into_iter().take(ON_SCREEN).map(row))
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
                   in the server meanwhile, so nobody can say which of them used the CPU time: `lab triage` loads each \
                   alone. Each interval is for its request alone.";
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
}
