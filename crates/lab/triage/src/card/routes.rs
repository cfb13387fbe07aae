//! What each request of a visit costs, and which costs most.

use lab_measure::routes::MOST_ROUTES;
use lab_observation::Function;
use lab_report::{Table, join, percent, significant, time_ms};
use serde::Serialize;

use super::{NONE, or_none};
use crate::{
    measure::{LoadedRoute, WATCHED},
    route_time::RouteTime,
    thresholds::SAME,
};

/// The longest name on a screen, in characters.
const LONGEST: usize = 28;

/// A request that was loaded alone.
#[derive(Clone, Debug, Serialize)]
pub struct RouteRow {
    /// `GET /users`
    pub route: String,
    pub throughput_rps: f64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub cpu_us_per_request: Option<f64>,
    /// The share of the CPU time of all these requests, if each is sent as often as another.
    pub cpu_share: Option<f64>,
    /// What the server's threads did most while it was loaded, if that is clear.
    pub time: Option<RouteTime>,
    /// The functions in which its CPU time is, with what they call; only of the request that costs most.
    pub functions: Vec<Function>,
    /// Answers that were wrong, failed or never came. Such a request has no cost.
    pub faults: u64,
}

/// The routes, in the order of the visit.
pub fn rows(loaded: &[LoadedRoute]) -> Vec<RouteRow> {
    let whole: f64 = loaded.iter().filter_map(|route| route.run.cpu_us()).sum();
    let row = |LoadedRoute { run, time, functions }: &LoadedRoute| RouteRow {
        route: run.route.clone(),
        throughput_rps: run.outcome.throughput(),
        p50_ms: run.outcome.latency.median_ms(),
        p99_ms: run.outcome.latency.percentile_ms(99.0),
        cpu_us_per_request: run.cpu_us(),
        cpu_share: run.cpu_us().map(|cost| cost / whole).filter(|share| share.is_finite()),
        time: time.clone(),
        functions: functions.clone(),
        faults: run.faults(),
    };
    loaded.iter().map(row).collect()
}

/// The row of each route that has a cost, the largest first, with it.
fn by_cost(rows: &[RouteRow]) -> Vec<(&RouteRow, f64)> {
    let mut costs: Vec<_> =
        rows.iter().filter_map(|row| Some((row, row.cpu_us_per_request?))).collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    costs
}

/// Which route costs most, of so many requests in a visit. `None` unless two have a cost.
pub fn headline(rows: &[RouteRow], requests: usize) -> Option<String> {
    let costs = by_cost(rows);
    let [(first, most), _, ..] = costs[..] else { return None };
    let whole: f64 = costs.iter().map(|(_, cost)| cost).sum();
    let time = |us: f64| time_ms(us / 1e3);
    let of_visit = match costs.len() {
        some if some < requests => format!("of these {some} requests"),
        _ => "of one visit".to_owned(),
    };
    let alike: Vec<_> = costs.iter().take_while(|(_, cost)| SAME * cost >= most).collect();
    if alike.len() == costs.len() {
        return Some(format!(
            "Each of the {} requests costs about the same CPU time, {}.",
            costs.len(),
            time(whole / costs.len() as f64)
        ));
    }
    if let [_] = alike[..] {
        return Some(format!(
            "{} costs most: {} of the CPU time {of_visit} ({} of {}){}.",
            first.route,
            percent(most / whole),
            time(most),
            time(whole),
            of_functions(first)
        ));
    }
    let names: Vec<_> = alike.iter().map(|(row, _)| row.route.clone()).collect();
    Some(format!(
        "{} cost most: {} each of the CPU time {of_visit} ({}).",
        join(&names),
        percent(most / whole),
        time(whole)
    ))
}

/// Where the time of a request is: `, of which 91 % is in render and 40 % in escape`.
fn of_functions(row: &RouteRow) -> String {
    let name = |(nth, function): (usize, &Function)| {
        let name = console::truncate_str(&function.name, LONGEST, "…");
        let is = if nth == 0 { "is " } else { "" };
        format!("{} {is}in {name}", percent(function.share))
    };
    let names: Vec<_> = row.functions.iter().enumerate().map(name).collect();
    if names.is_empty() { String::new() } else { format!(", of which {}", join(&names)) }
}

/// What the table says, and what it leaves out.
pub fn explanation(rows: &[RouteRow], requests: usize) -> String {
    let mut text = format!(
        "Each request alone, with {WATCHED} users, because the CPU time of a mixture can't be split. The share is \
         that of a visit, in which each comes once."
    );
    if rows.iter().any(|row| row.time.is_some()) {
        text += " Its time: what the server's threads do most meanwhile. They run, or wait in this system call; empty \
                 if that isn't clear.";
    }
    if requests > rows.len() {
        text += &format!(
            " {} more were not loaded, because {MOST_ROUTES} are the most.",
            requests - rows.len()
        );
    }
    let faulty: Vec<_> =
        rows.iter().filter(|row| row.faults > 0).map(|row| row.route.clone()).collect();
    if !faulty.is_empty() {
        text += &format!(
            " Without the others, {} got wrong or missing answers, and has no cost.",
            join(&faulty)
        );
    }
    text
}

/// The routes, those that cost most first: at most so many.
pub fn table(rows: &[RouteRow], most: usize) -> Table {
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by(|a, b| {
        let cost = |row: &RouteRow| row.cpu_us_per_request.unwrap_or_default();
        cost(b).total_cmp(&cost(a))
    });
    let has_time = rows.iter().any(|row| row.time.is_some());
    let cells = |row: &RouteRow| {
        let mut cells = vec![
            row.route.clone(),
            significant(row.throughput_rps),
            or_none(row.p50_ms.map(time_ms)),
            or_none(row.p99_ms.map(time_ms)),
            or_none(row.cpu_us_per_request.map(|us| time_ms(us / 1e3))),
            row.cpu_share.map_or(NONE.to_owned(), percent),
        ];
        let time = row.time.as_ref().map_or(String::new(), |time| time.short().to_owned());
        cells.extend(has_time.then_some(time));
        cells
    };
    let head = ["request", "req/s", "p50", "p99", "CPU/req", "share"];
    let head = head.into_iter().chain(has_time.then_some("its time"));
    let rows = rows.into_iter().take(most).map(cells);
    Table::new("Closed loop, each request alone", head, rows).with_short_names(LONGEST)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lab_measure::routes::RouteRun;
    use lab_protocol::Outcome;

    use super::*;

    /// A route whose requests cost so many ms; with so many wrong answers.
    fn run(route: &str, cpu_ms: u64, wrong: u64) -> LoadedRoute {
        let outcome = Outcome {
            measured: Duration::from_secs(1),
            ok_in_time: 100,
            ok: 100,
            wrong,
            server_cpu: Some(Duration::from_millis(100 * cpu_ms)),
            ..Outcome::default()
        };
        let run = RouteRun { route: route.to_owned(), outcome };
        LoadedRoute { run, time: None, functions: Vec::new() }
    }

    fn headline_of(runs: &[LoadedRoute], requests: usize) -> Option<String> {
        headline(&rows(runs), requests)
    }

    #[test]
    fn the_route_that_costs_most_is_named_with_its_share() {
        let runs = [run("GET /", 2, 0), run("GET /report", 12, 0), run("POST /orders", 3, 0)];
        assert_eq!(
            headline_of(&runs, 3).unwrap(),
            "GET /report costs most: 71 % of the CPU time of one visit (12.0 ms of 17.0 ms)."
        );
        assert_eq!(
            headline_of(&runs, 14).unwrap(),
            "GET /report costs most: 71 % of the CPU time of these 3 requests (12.0 ms of 17.0 ms)."
        );
        let shares: f64 = rows(&runs).iter().filter_map(|row| row.cpu_share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }

    #[test]
    fn routes_that_cost_the_same_are_named_together() {
        let runs = [run("GET /a", 20, 0), run("GET /b", 20, 0), run("GET /c", 10, 0)];
        assert_eq!(
            headline_of(&runs, 3).unwrap(),
            "GET /a and GET /b cost most: 40 % each of the CPU time of one visit (50.0 ms)."
        );
        assert_eq!(
            headline_of(&runs[..2], 2).unwrap(),
            "Each of the 2 requests costs about the same CPU time, 20.0 ms."
        );
    }

    #[test]
    fn a_route_with_wrong_answers_has_no_cost_and_is_named() {
        let runs = [run("GET /", 2, 0), run("GET /cart", 12, 5), run("GET /news", 4, 0)];
        let rows = rows(&runs);
        assert_eq!((rows[1].cpu_us_per_request, rows[1].faults), (None, 5));
        assert!(headline(&rows, 3).unwrap().starts_with("GET /news costs most: 67 % of"));
        let text = explanation(&rows, 15);
        assert!(text.contains("12 more were not loaded"), "{text}");
        assert!(text.contains("Without the others, GET /cart got wrong or missing"), "{text}");
        assert_eq!(headline(&rows[..2], 2), None, "one cost is no comparison");
    }

    #[test]
    fn each_route_says_what_its_time_is_and_leaves_out_what_is_not_clear() {
        let mut runs = [run("GET /lock", 2, 0), run("GET /report", 12, 0), run("GET /", 2, 0)];
        let long = format!("GET /{}", "long/".repeat(30));
        runs[1].run.route = long;
        assert_eq!(table(&rows(&runs), 9).head.len(), 6, "no thread was seen");
        runs[0].time = Some(RouteTime::WaitsIn("clock_nanosleep".to_owned()));
        runs[1].time = Some(RouteTime::Runs);
        let rows = rows(&runs);
        let table = table(&rows, 9);
        let times: Vec<_> = table.rows.iter().map(|row| &*row[6].text).collect();
        assert_eq!(times, ["runs", "clock_nanosleep", ""]);
        console::set_colors_enabled(false);
        let text = table.text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("GET /long/long/"), "{text}");
        assert!(explanation(&rows, 3).contains("wait in this system call"));
        assert_eq!(
            serde_json::to_value(&rows).unwrap()[0]["time"],
            serde_json::json!({ "waits-in": "clock_nanosleep" })
        );
    }

    #[test]
    fn a_table_begins_with_what_costs_most_and_fits_a_screen() {
        console::set_colors_enabled(false);
        let long = format!("GET /{}", "long/".repeat(30));
        let rows = rows(&[run("GET /", 2, 0), run(&long, 12, 0), run("GET /b", 3, 0)]);
        let text = table(&rows, 2).text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().nth(1).unwrap().contains("GET /long/long/"), "{text}");
    }
}
