//! The generator against servers that live in the test itself, most of them in memory: with a
//! paused clock, every latency is known exactly.

mod accounting;
mod connection;
mod memory;
mod stalls;

use std::time::Duration;

use super::{Arrivals, Ask, Expected, OpenLoop, Plan};
use crate::Answer;

/// `GET /`, whose right answer is `6`.
fn ask() -> Ask {
    Ask {
        method: "GET".to_owned(),
        path: "/".to_owned(),
        headers: Vec::new(),
        body: None,
        expected: Expected { status: 200, answer: Answer::Text("6".to_owned()) },
    }
}

/// One second of warm-up, five that count, one of grace.
fn plan(arrivals: Arrivals) -> Plan {
    Plan {
        target: ([127, 0, 0, 1], 80).into(),
        server_pid: std::process::id(),
        arrivals,
        warm_up: Duration::from_secs(1),
        measurement: Duration::from_secs(5),
        grace: Duration::from_secs(1),
        asks: vec![ask()],
        pin: false,
    }
}

/// So many arrivals per second over so many connections.
fn open_loop(rate_per_s: f64, connections: usize) -> Arrivals {
    Arrivals::OpenLoop(OpenLoop { rate_per_s, connections, connections_per_user: 1 })
}
