//! The database, a file of SQLite.

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

const CONNECTIONS: u32 = 8;

/// Columns that the shop looks rows up by.
const INDEXES: &str = "
CREATE INDEX IF NOT EXISTS reviews_by_product ON reviews (product_id);
CREATE INDEX IF NOT EXISTS lines_by_product ON order_lines (product_id);
CREATE INDEX IF NOT EXISTS orders_by_customer ON orders (customer_id);
";

/// Opens the database with pages that readers may use while somebody writes.
pub async fn open(file: &Path) -> anyhow::Result<SqlitePool> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(false)
        .busy_timeout(Duration::from_secs(20));
    let pool = SqlitePoolOptions::new()
        .max_connections(CONNECTIONS)
        .min_connections(CONNECTIONS)
        .connect_with(options)
        .await
        .with_context(|| format!("cannot open {}", file.display()))?;
    sqlx::raw_sql(INDEXES).execute(&pool).await?;
    Ok(pool)
}
