//! The requests of a visit, a row each.

use lab_observation::{Observation, Observations, RequestRow};
use lab_report::{NONE, Table, percent, time_ms};

use crate::page::Section;

/// What the columns are from.
const ABOUT: &str = "CPU time: each request alone, because the CPU time of a mixture can't be split. Its share is that \
                     of a visit, in which each comes once. p50, p99 and the share of time: while the others run.";
/// The longest name on a screen, in characters.
const LONGEST: usize = 30;

/// The section of a page; `None` unless the requests were loaded alone.
pub fn section_of(all: &Observations) -> Option<Section> {
    let mut section = Section::new("What each request costs", ABOUT.to_owned());
    let servers = all.servers.iter().map(|server| (server, server.request_rows()));
    for (server, rows) in servers.filter(|(_, rows)| !rows.is_empty()) {
        section.tables.push(Table { caption: caption(server), ..table(&rows, usize::MAX) });
    }
    Some(section).filter(|section| !section.tables.is_empty())
}

/// Which requests have no cost.
fn caption(server: &Observation) -> String {
    let (all, alone) = (server.requests.len(), server.routes.len());
    let has_no_cost = server.routes.iter().filter(|route| route.cpu_us.is_none());
    let has_no_cost: Vec<_> = has_no_cost.map(|route| route.request.clone()).collect();
    let mut text = format!("{}: each request of a visit, the costliest first.", server.name);
    if alone < all {
        text += &format!(" {} were not loaded alone.", all - alone);
    }
    if !has_no_cost.is_empty() {
        let names = lab_report::join(&has_no_cost);
        text += &format!(" Alone, {names} got few or wrong answers, and has no cost.");
    }
    text
}

/// The rows of a server that a screen has, at most so many, and what to know of them; `None` unless its requests were
/// loaded alone.
pub fn requests_on_screen(server: &Observation, most: usize) -> Option<(Table, String)> {
    let rows = server.request_rows();
    let rest = rows.len().saturating_sub(most);
    let more = if rest > 0 { format!(" {rest} more: -v, or the page.") } else { String::new() };
    let table = table(&rows, most).with_short_names(LONGEST);
    (!rows.is_empty()).then(|| (table, format!("{ABOUT}{more}")))
}

fn table(rows: &[RequestRow], most: usize) -> Table {
    let time = |ms: Option<f64>| ms.map_or(NONE.to_owned(), time_ms);
    let share = |of: Option<f64>| of.map_or(NONE.to_owned(), percent);
    let cells = |row: &RequestRow| {
        vec![
            row.request.clone(),
            time(row.cpu_us_per_request.map(|us| us / 1e3)),
            share(row.cpu_share),
            time(row.p50_ms),
            time(row.p99_ms),
            share(row.time_share),
        ]
    };
    let head = ["request", "CPU/req", "of CPU", "p50", "p99", "of time"];
    Table::new("", head, rows.iter().take(most).map(cells))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lab_observation::RouteCost;
    use lab_protocol::RequestTime;

    use super::*;

    fn server(costs: &[(&str, Option<f64>)], more: usize) -> Observation {
        let time = |request: String| RequestTime {
            request,
            answers: 10,
            mean_ms: Some(1_234.0),
            p50_ms: Some(1_234.0),
            p99_ms: Some(2_345.0),
        };
        let alone = costs.iter().map(|(name, _)| (*name).to_owned());
        let others = (0..more).map(|nth| format!("GET /{nth}"));
        let route =
            |(name, cpu_us): &(&str, _)| RouteCost { request: (*name).to_owned(), cpu_us: *cpu_us };
        Observation {
            name: "server".to_owned(),
            measured: Duration::from_secs(1),
            answered: 30,
            requests: alone.chain(others).map(time).collect(),
            routes: costs.iter().map(route).collect(),
            ..Observation::default()
        }
    }

    #[test]
    fn a_screen_has_the_costliest_requests_in_80_columns() {
        let long = format!("GET /{}", "long/".repeat(30));
        let costs = [("GET /a", Some(20.0)), (&*long, Some(1_234_000.0)), ("GET /b", Some(9.0))];
        let (table, about) = requests_on_screen(&server(&costs, 0), 2).unwrap();
        let text = table.text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().nth(1).unwrap().starts_with("  GET /long/"), "{text}");
        assert!(about.ends_with(" 1 more: -v, or the page."), "{about}");
        assert!(requests_on_screen(&server(&[], 3), 2).is_none());
    }

    #[test]
    fn the_page_says_which_requests_have_no_cost() {
        let costs = [("GET /a", Some(20.0)), ("GET /cart", None), ("GET /b", Some(9.0))];
        let text = caption(&server(&costs, 2));
        assert!(
            text.contains(" 2 were not loaded alone. Alone, GET /cart got few or wrong"),
            "{text}"
        );
        assert_eq!(
            caption(&server(&costs[..1], 0)),
            "server: each request of a visit, the costliest first."
        );
    }
}
