//! The shop's database: two tables whose rows depend on nothing but a seed.

use std::{fmt::Write as _, sync::Arc};

use anyhow::Context as _;
use sqlx::{AnyPool, AssertSqlSafe, any::AnyPoolOptions};
use tempfile::TempDir;

/// The case's own flags.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// A database without tables, which gets two: such as `sqlite:///tmp/shop.sqlite?mode=rwc`; or, in a build
    /// with `--features query-per-row/postgres`, postgres://me@localhost/shop. Without this flag, the server has
    /// a SQLite database in a temporary file
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,

    /// Connections that the server opens to its database, at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub pool: u32,

    /// Decides who ordered what
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { database_url: None, pool: 10, seed: 1 }
    }
}

const CUSTOMERS: u32 = 1000;
const ORDERS: u32 = 10_000;

const TABLES: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, \
     customer_id INTEGER NOT NULL REFERENCES customers (id), cents INTEGER NOT NULL)",
];

/// A pool of connections. The temporary file of an embedded database goes with the last clone.
#[derive(Clone, Debug)]
pub struct Database {
    pub pool: AnyPool,
    _directory: Option<Arc<TempDir>>,
}

impl Options {
    /// Opens the database, from outside of async code.
    ///
    /// # Errors
    ///
    /// If there is no such database, or if its tables cannot be made.
    pub fn open(&self) -> anyhow::Result<Database> {
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(self.connect()))
    }

    /// Opens the database and makes its tables, unless they are there.
    ///
    /// # Errors
    ///
    /// If there is no such database, or if its tables cannot be made.
    pub async fn connect(&self) -> anyhow::Result<Database> {
        sqlx::any::install_default_drivers();
        let pool = AnyPoolOptions::new().max_connections(self.pool);
        let database = match &self.database_url {
            Some(url) => {
                let is_embedded = url.starts_with("sqlite:");
                anyhow::ensure!(
                    cfg!(feature = "postgres") || is_embedded,
                    "this server was built without PostgreSQL; for another --database-url than sqlite:, build it \
                     with `cargo build --release --workspace --features query-per-row/postgres`"
                );
                let pool = pool.connect(url).await;
                let pool = pool.context("cannot connect to the database of --database-url")?;
                if is_embedded {
                    log_ahead(&pool).await?;
                }
                Database { pool, _directory: None }
            }
            None => {
                let directory = tempfile::Builder::new().prefix("query-per-row-").tempdir()?;
                let file = directory.path().join("shop.sqlite");
                let pool = pool.connect(&format!("sqlite://{}?mode=rwc", file.display())).await?;
                log_ahead(&pool).await?;
                Database { pool, _directory: Some(Arc::new(directory)) }
            }
        };
        fill(&database.pool, self.seed).await.context("cannot make the tables of the shop")?;
        Ok(database)
    }
}

/// As production does: a reader doesn't wait for a writer.
async fn log_ahead(pool: &AnyPool) -> sqlx::Result<()> {
    sqlx::query("PRAGMA journal_mode = WAL").execute(pool).await.map(drop)
}

async fn fill(pool: &AnyPool, seed: u32) -> sqlx::Result<()> {
    let mut transaction = pool.begin().await?;
    for table in TABLES {
        sqlx::query(table).execute(&mut *transaction).await?;
    }
    let (rows,): (i64,) =
        sqlx::query_as("SELECT count(*) FROM orders").fetch_one(&mut *transaction).await?;
    if rows == 0 {
        let customers = rows_of("customers", CUSTOMERS, |id| {
            format!("{id}, 'Customer {:04}'", mixed(id, seed) % 10_000)
        });
        let orders = rows_of("orders", ORDERS, |id| {
            let random = mixed(id, seed.wrapping_add(1));
            format!("{id}, {}, {}", 1 + random % CUSTOMERS, 100 + random / CUSTOMERS % 100_000)
        });
        for insert in [customers, orders] {
            sqlx::query(AssertSqlSafe(insert)).execute(&mut *transaction).await?;
        }
    }
    transaction.commit().await
}

fn rows_of(table: &str, count: u32, values: impl Fn(u32) -> String) -> String {
    let mut insert = format!("INSERT INTO {table} VALUES");
    for id in 1..=count {
        let separator = if id == 1 { "" } else { "," };
        let _ = write!(insert, "{separator} ({})", values(id));
    }
    insert
}

/// A number that looks random (the finalizer of MurmurHash3), the same on every machine.
fn mixed(id: u32, seed: u32) -> u32 {
    let mut number = id ^ seed.wrapping_mul(0x9E37_79B9);
    number = (number ^ number >> 16).wrapping_mul(0x85EB_CA6B);
    number = (number ^ number >> 13).wrapping_mul(0xC2B2_AE35);
    number ^ number >> 16
}
