//! How many statements the database executes for one request. SQLx logs each of them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use query_per_row::{Options, variants};
use tracing::{
    Event, Metadata, Subscriber,
    span::{Attributes, Id, Record},
};

static STATEMENTS: AtomicU64 = AtomicU64::new(0);

/// Counts SQLx's log lines, one for each statement that was executed.
struct Log;

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }
    fn event(&self, _: &Event<'_>) {
        STATEMENTS.fetch_add(1, Relaxed);
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn slow_executes_a_statement_for_each_order_and_one_more() {
    // For the whole process, because SQLite has threads of its own.
    tracing::subscriber::set_global_default(Log).unwrap();
    // A new connection executes statements of its own.
    let database = Options { pool: 1, ..Options::default() }.connect().await.unwrap();
    // The connection executes one statement after the other, so before this one all others are counted.
    let so_far = async || {
        sqlx::query("SELECT 1").fetch_all(&database.pool).await.unwrap();
        STATEMENTS.load(Relaxed)
    };
    for (variant, routes) in variants(&database) {
        for orders in [0, 1, 10, 100, 1000] {
            let before = so_far().await;
            let (status, _) = routes.get(&format!("/orders?limit={orders}")).await;
            let executed = so_far().await - before - 1;
            let expected = match variant {
                "slow" => 1 + orders,
                // Nothing is asked about no customer.
                "in-list" => 1 + orders.min(1),
                _ => 1,
            };
            assert_eq!((status, executed), (200, expected), "{variant}: {orders} orders");
        }
    }
}
