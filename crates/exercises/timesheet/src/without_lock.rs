//! The service without the lock that all exports take: each team has an atomic number.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use warp::{
    Filter, Reply,
    filters::BoxedFilter,
    http::{StatusCode, header::CONTENT_TYPE},
    reply::Response,
};

use crate::{Days, Entry, Sheet, TEAMS, entries, export_route, exports_route, slow::table, with};

/// How many exports each team had.
type Exports = Arc<[AtomicU64; TEAMS as usize]>;

/// The service's routes.
pub fn routes() -> BoxedFilter<(impl Reply,)> {
    let exports = with(Exports::default());

    let export = export_route().and(with(entries())).and(exports.clone()).then(export);
    let count = exports_route().and(exports).then(count);
    export.or(count).recover(case_server::explain).boxed()
}

async fn export(team: u32, days: Days, sheet: Sheet, exports: Exports) -> Response {
    let Some(count) = exports.get(team as usize) else {
        return warp::reply::with_status("no such team\n", StatusCode::NOT_FOUND).into_response();
    };
    count.fetch_add(1, Relaxed);
    let wanted = |entry: &&Entry| entry.team == team && days.contain(entry.day);
    let table = table(sheet.iter().filter(wanted));
    warp::reply::with_header(table, CONTENT_TYPE, "text/csv; charset=utf-8").into_response()
}

async fn count(team: u32, exports: Exports) -> String {
    let count = exports.get(team as usize).map(|count| count.load(Relaxed)).unwrap_or_default();
    format!("{count}\n")
}
