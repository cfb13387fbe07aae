//! The stock service, which belongs to somebody else: it says how much there is of a product, and reserves it.
//!
//! It takes 2 ms for an answer. `POST /stall/MS` stops it for a while, which happens to it now and then.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, post, put},
};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, sleep_until};

use crate::data::{PRODUCTS, mixed};

const WAIT: Duration = Duration::from_millis(2);

/// The service's own flags.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Options {
    /// Decides how much there is of each product
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u32,
}

/// What the shop reserves in one request: a line of JSON for each.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Item {
    pub product: u32,
    pub amount: u32,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct InStock {
    pub in_stock: u32,
}

/// What it counts for the referee.
#[derive(Clone, Debug, Default, Serialize)]
struct Counters {
    reads: u64,
    /// Refused ones aren't among them.
    reservations: u64,
    refused: u64,
}

struct Warehouse {
    in_stock: HashMap<u32, u32>,
    /// The references of all orders that have their goods. One that comes again gets nothing twice.
    reserved: HashSet<String>,
    counters: Counters,
    stalls_until: Instant,
}

type Shared = Arc<Mutex<Warehouse>>;

/// The service's routes.
pub fn routes(options: Options) -> Router {
    let amount = |product| (product, 40 + mixed(product, options.seed ^ 0x570C) % 400);
    let warehouse = Warehouse {
        in_stock: (1..=PRODUCTS).map(amount).collect(),
        reserved: HashSet::new(),
        counters: Counters::default(),
        stalls_until: Instant::now(),
    };
    Router::new()
        .route("/stock/{product}", get(read))
        .route("/reservations/{reference}", put(reserve))
        .route("/reservations", get(reserved))
        .route("/stall/{ms}", post(stall))
        .route("/counters", get(counters))
        .with_state(Arc::new(Mutex::new(warehouse)))
}

/// No lock is held when a handler panics.
fn lock(shared: &Shared) -> MutexGuard<'_, Warehouse> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn work(shared: &Shared) {
    let until = lock(shared).stalls_until;
    sleep_until(until).await;
    sleep(WAIT).await;
}

async fn read(
    State(shared): State<Shared>,
    Path(product): Path<u32>,
) -> Result<Json<InStock>, StatusCode> {
    work(&shared).await;
    let mut warehouse = lock(&shared);
    warehouse.counters.reads += 1;
    let amount = warehouse.in_stock.get(&product).copied();
    Ok(Json(InStock { in_stock: amount.ok_or(StatusCode::NOT_FOUND)? }))
}

/// All items of an order or none.
async fn reserve(
    State(shared): State<Shared>,
    Path(reference): Path<String>,
    body: String,
) -> StatusCode {
    let items = body.lines().map(serde_json::from_str::<Item>).collect::<Result<Vec<_>, _>>();
    let Ok(items) = items else { return StatusCode::BAD_REQUEST };
    work(&shared).await;
    let mut warehouse = lock(&shared);
    if warehouse.reserved.contains(&reference) {
        return StatusCode::OK;
    }
    let mut left = warehouse.in_stock.clone();
    for item in items {
        let rest = left.get(&item.product).and_then(|amount| amount.checked_sub(item.amount));
        let Some(rest) = rest else {
            warehouse.counters.refused += 1;
            return StatusCode::CONFLICT;
        };
        left.insert(item.product, rest);
    }
    warehouse.in_stock = left;
    warehouse.reserved.insert(reference);
    warehouse.counters.reservations += 1;
    StatusCode::OK
}

/// The references of all orders that have their goods.
async fn reserved(State(shared): State<Shared>) -> Json<HashSet<String>> {
    Json(lock(&shared).reserved.clone())
}

async fn stall(State(shared): State<Shared>, Path(ms): Path<u64>) {
    lock(&shared).stalls_until = Instant::now() + Duration::from_millis(ms);
}

async fn counters(State(shared): State<Shared>) -> Json<Counters> {
    Json(lock(&shared).counters.clone())
}
