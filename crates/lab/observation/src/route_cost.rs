//! The requests of a visit, a row each: how long they took together, and the CPU time of each alone.

use lab_protocol::RequestTime;
use serde::Serialize;

use super::Observation;

/// A request of a visit that was loaded alone.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteCost {
    /// `GET /users`
    pub request: String,
    /// Microseconds of CPU time of one such request; `None` with few or wrong answers.
    pub cpu_us: Option<f64>,
}

/// All that is known of a request of a visit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestRow {
    /// `GET /users`
    pub request: String,
    /// Loaded alone, because the CPU time of a mixture can't be split.
    pub cpu_us_per_request: Option<f64>,
    /// The share of the CPU time of all requests that have one, if each is sent as often as another.
    pub cpu_share: Option<f64>,
    /// While the other requests were in the server.
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// The share of the time of a visit, meanwhile.
    pub time_share: Option<f64>,
}

impl Observation {
    /// The requests of a visit, the costliest first; empty unless they were loaded alone, and two have a cost.
    pub fn request_rows(&self) -> Vec<RequestRow> {
        let costs = self.routes.iter().filter_map(|route| route.cpu_us);
        if costs.clone().count() < 2 {
            return Vec::new();
        }
        let cpu: f64 = costs.sum();
        let time: f64 = self.requests.iter().map(RequestTime::total_ms).sum();
        let share = |part: f64, whole: f64| (whole > 0.0).then_some(part / whole);
        let row = |request: &RequestTime| {
            let route = self.routes.iter().find(|route| route.request == request.request);
            let cpu_us = route.and_then(|route| route.cpu_us);
            RequestRow {
                request: request.request.clone(),
                cpu_us_per_request: cpu_us,
                cpu_share: cpu_us.and_then(|cost| share(cost, cpu)),
                p50_ms: request.p50_ms,
                p99_ms: request.p99_ms,
                time_share: share(request.total_ms(), time),
            }
        };
        let mut rows: Vec<_> = self.requests.iter().map(row).collect();
        let cost = |row: &RequestRow| row.cpu_us_per_request.unwrap_or(-1.0);
        rows.sort_by(|one, other| cost(other).total_cmp(&cost(one)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn observation(costs: &[(&str, Option<f64>)]) -> Observation {
        let time = |(nth, (name, _)): (usize, &(&str, Option<f64>))| RequestTime {
            request: (*name).to_owned(),
            answers: 10,
            mean_ms: Some(1.0 + nth as f64),
            p50_ms: Some(1.0),
            p99_ms: None,
        };
        let route =
            |(name, cpu_us): &(&str, _)| RouteCost { request: (*name).to_owned(), cpu_us: *cpu_us };
        Observation {
            name: "server".to_owned(),
            measured: Duration::from_secs(1),
            answered: 30,
            requests: costs.iter().enumerate().map(time).collect(),
            routes: costs.iter().map(route).collect(),
            ..Observation::default()
        }
    }

    #[test]
    fn the_costliest_request_comes_first_and_one_without_a_cost_last() {
        let costs = [("GET /a", None), ("GET /b", Some(100.0)), ("GET /c", Some(300.0))];
        let rows = observation(&costs).request_rows();
        let names: Vec<_> = rows.iter().map(|row| &*row.request).collect();
        assert_eq!(names, ["GET /c", "GET /b", "GET /a"]);
        let shares: Vec<_> = rows.iter().map(|row| row.cpu_share).collect();
        assert_eq!(shares, [Some(0.75), Some(0.25), None]);
        assert_eq!(rows[0].time_share, Some(0.5), "3 ms of 1 + 2 + 3");
    }

    #[test]
    fn one_cost_is_no_comparison() {
        let costs = [("GET /a", None), ("GET /b", Some(100.0))];
        assert!(observation(&costs).request_rows().is_empty());
        assert!(observation(&[]).request_rows().is_empty());
    }
}
