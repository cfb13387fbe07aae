//! A time sheet: who worked how long on what, by team and day.
//!
//! This file has the entries; [`slow`] has the service that exports them for a spreadsheet.

#[path = "../../solutions/timesheet.rs"]
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod slow;
pub mod without_lock;

use std::{convert::Infallible, sync::Arc};

use case_server::InProcess;
use serde::Deserialize;
use warp::{Filter, Rejection};

/// What one person did on one day.
#[derive(Clone, Debug)]
pub struct Entry {
    pub team: u32,
    /// Counted from the first day of the year.
    pub day: u32,
    pub person: String,
    pub minutes: u32,
    pub note: String,
}

/// All entries, by day. Requests only read them.
pub type Sheet = Arc<Vec<Entry>>;

/// The days of an export, both ends included.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Days {
    pub from: u32,
    pub to: u32,
}

impl Days {
    pub fn contain(&self, day: u32) -> bool {
        (self.from..=self.to).contains(&day)
    }
}

/// The teams are numbered from 0.
pub const TEAMS: u32 = 4;
const PEOPLE: [&str; 5] = ["Ada", "Grace", "Linus \"Li\" Berg", "Niño, Pablo", "Zoë"];
const NOTES: [&str; 6] = [
    "Answered tickets of the night",
    "Planned the release, with the people from the warehouse",
    "Wrote the part about \"terms\"",
    "",
    "Moved the old orders to the new table and checked the sums",
    "Interviews",
];

/// A year of entries, the same on every machine.
fn entries() -> Sheet {
    let entry = |(day, team, nth): (u32, u32, usize)| Entry {
        team,
        day,
        person: PEOPLE[nth].to_owned(),
        minutes: 15 * (1 + (day * 7 + team * 5 + nth as u32 * 3) % 32),
        note: NOTES[(day as usize + nth * 5) % NOTES.len()].to_owned(),
    };
    let all = (1..=365).flat_map(|day| (0..TEAMS).map(move |team| (day, team)));
    let all = all.flat_map(|(day, team)| (0..PEOPLE.len()).map(move |nth| (day, team, nth)));
    Arc::new(all.map(entry).collect())
}

/// `GET /teams/N/export?from=DAY&to=DAY`.
fn export_route() -> impl Filter<Extract = (u32, Days), Error = Rejection> + Copy {
    warp::path!("teams" / u32 / "export").and(warp::get()).and(warp::query())
}

/// `GET /teams/N/exports`.
fn exports_route() -> impl Filter<Extract = (u32,), Error = Rejection> + Copy {
    warp::path!("teams" / u32 / "exports").and(warp::get())
}

/// All variants by name, for tests that use no socket.
pub fn variants() -> [(&'static str, InProcess); 3] {
    [
        ("slow", InProcess::new(warp::service(slow::routes()))),
        ("without-lock", InProcess::new(warp::service(without_lock::routes()))),
        ("fixed", InProcess::new(warp::service(fixed::routes()))),
    ]
}

/// Gives `value` to a handler.
fn with<T: Clone + Send>(value: T) -> impl Filter<Extract = (T,), Error = Infallible> + Clone {
    warp::any().map(move || value.clone())
}
