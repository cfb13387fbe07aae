//! The wholesaler, which is another company: a shop sees no more of it than its answers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::ensure;
use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    routing::put,
};
use case_probe::span;
use serde::{Deserialize, Serialize};
use tokio::{sync::Semaphore, time::sleep};

use crate::Options;

/// Where the wholesaler keeps an item.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Depot {
    Far,
    Near,
}

/// The wholesaler accepts this many connections from a shop.
pub const MOST_CONNECTIONS: usize = 16;

/// Connections to a wholesaler. Each of them carries one question at a time.
///
/// There is no wholesaler: a wait of its length simulates it.
pub struct Wholesaler {
    connections: Semaphore,
    options: Options,
    /// The wholesaler's prices in cents. They change while the shop is open.
    prices: Mutex<BTreeMap<String, u32>>,
}

impl Wholesaler {
    /// # Errors
    ///
    /// If the wholesaler doesn't accept so many connections.
    pub fn connect(options: Options, connections: usize) -> anyhow::Result<Arc<Self>> {
        let accepted = 1..=MOST_CONNECTIONS;
        ensure!(accepted.contains(&connections), "the wholesaler accepts 1 to 16 connections");
        let prices = [("chair", 8_900), ("lamp", 1_250), ("table", 24_900)];
        let prices = prices.map(|(item, cents)| (item.to_owned(), cents)).into();
        Ok(Arc::new(Self {
            connections: Semaphore::new(connections),
            options,
            prices: Mutex::new(prices),
        }))
    }

    /// Asks for the price of an item at a depot, in cents.
    pub async fn price(&self, depot: Depot, item: &str) -> Option<u32> {
        let wait = span("connection wait");
        let _connection = self.connections.acquire().await.ok()?;
        drop(wait);
        let _recorded = span("wholesaler");
        sleep(Duration::from_millis(match depot {
            Depot::Far => self.options.far_ms,
            Depot::Near => self.options.near_ms,
        }))
        .await;
        let prices = self.prices.lock().unwrap_or_else(PoisonError::into_inner);
        let cents = prices.get(item)?;
        Some(match depot {
            Depot::Far => *cents,
            Depot::Near => cents + cents / 10,
        })
    }

    fn change(&self, item: String, cents: u32) {
        self.prices.lock().unwrap_or_else(PoisonError::into_inner).insert(item, cents);
    }
}

/// `PUT /wholesaler/ITEM/CENTS`: the wholesaler itself changes a price.
pub fn change_routes(wholesaler: Arc<Wholesaler>) -> Router {
    type Change = Path<(String, u32)>;
    let change = async |State(wholesaler): State<Arc<Wholesaler>>, Path((item, cents)): Change| {
        if cents > 10_000_000 {
            return StatusCode::BAD_REQUEST;
        }
        wholesaler.change(item, cents);
        StatusCode::NO_CONTENT
    };
    Router::new().route("/wholesaler/{item}/{cents}", put(change)).with_state(wholesaler)
}
