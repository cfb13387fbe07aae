//! Other ways to ask for the customers of 100 orders, and the same ways without the index of the customers.
//! The database is embedded, and nothing of HTTP is included.

use std::collections::HashMap;

use criterion::{Criterion, criterion_group};
use futures_util::future::try_join_all;
use query_per_row::Options;
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, query, query_as};

const ORDERS: &str = "SELECT id, customer_id FROM orders ORDER BY id DESC LIMIT 100";

type Names = sqlx::Result<Vec<String>>;

async fn customer_ids(database: &AnyPool) -> sqlx::Result<Vec<i32>> {
    let orders: Vec<(i32, i32)> = query_as(ORDERS).fetch_all(database).await?;
    Ok(orders.into_iter().map(|(_, customer_id)| customer_id).collect())
}

async fn name(database: &AnyPool, customers: &str, id: i32) -> sqlx::Result<String> {
    let select = AssertSqlSafe(format!("SELECT name FROM {customers} WHERE id = $1"));
    let (name,) = query_as(select).bind(id).fetch_one(database).await?;
    Ok(name)
}

async fn per_row(database: &AnyPool, customers: &str) -> Names {
    let mut names = Vec::new();
    for id in customer_ids(database).await? {
        names.push(name(database, customers, id).await?);
    }
    Ok(names)
}

/// The same queries on one connection, which is taken from the pool once.
async fn per_row_one_connection(database: &AnyPool) -> Names {
    let ids = customer_ids(database).await?;
    let mut taken = database.acquire().await?;
    let connection: &mut AnyConnection = &mut taken;
    let mut names = Vec::new();
    for id in ids {
        let select = query_as("SELECT name FROM customers WHERE id = $1").bind(id);
        let (name,) = select.fetch_one(&mut *connection).await?;
        names.push(name);
    }
    Ok(names)
}

/// No query: only what the pool does for `per-row`, which takes and returns a connection as often.
async fn only_connections(database: &AnyPool, times: usize) -> sqlx::Result<()> {
    for _ in 0..times {
        drop(database.acquire().await?);
    }
    Ok(())
}

/// As many queries, all at the same time.
async fn concurrent(database: &AnyPool) -> Names {
    let ids = customer_ids(database).await?;
    try_join_all(ids.into_iter().map(|id| name(database, "customers", id))).await
}

async fn in_list(database: &AnyPool, customers: &str) -> Names {
    let ids = customer_ids(database).await?;
    let places: Vec<_> = (1..=ids.len()).map(|place| format!("${place}")).collect();
    let places = places.join(", ");
    let select = format!("SELECT id, name FROM {customers} WHERE id IN ({places})");
    let select = ids.iter().fold(query_as(AssertSqlSafe(select)), |select, id| select.bind(*id));
    let names: Vec<(i32, String)> = select.fetch_all(database).await?;
    let names: HashMap<_, _> = names.into_iter().collect();
    Ok(ids.iter().filter_map(|id| names.get(id).cloned()).collect())
}

async fn join(database: &AnyPool, customers: &str) -> Names {
    let select = format!(
        "SELECT orders.id, name FROM orders JOIN {customers} AS customers \
         ON customers.id = customer_id ORDER BY orders.id DESC LIMIT 100"
    );
    let orders: Vec<(i32, String)> = query_as(AssertSqlSafe(select)).fetch_all(database).await?;
    Ok(orders.into_iter().map(|(_, name)| name).collect())
}

fn query_per_row(c: &mut Criterion) {
    let runtime = benches::runtime();
    let database = runtime.block_on(Options::default().connect()).expect("the database opens");
    let database = &database.pool;
    // Doesn't ask a connection whether it's still alive before it hands it out.
    let trusting = database.options().clone().test_before_acquire(false);
    let trusting = trusting.connect_with(database.connect_options().as_ref().clone());
    let trusting = &runtime.block_on(trusting).expect("the database opens");
    let copy = query("CREATE TABLE unindexed AS SELECT * FROM customers").execute(database);
    runtime.block_on(copy).expect("the table can be copied");
    let expected = runtime.block_on(join(database, "customers")).expect("the database answers");

    let mut group = c.benchmark_group("alternatives-query-per-row");
    macro_rules! bench {
        ($name:literal, $names:expr) => {
            group.bench_function($name, |bencher| {
                bencher.to_async(&runtime).iter(async || {
                    assert_eq!($names.await.as_ref().ok(), Some(&expected), $name);
                });
            });
        };
    }
    bench!("per-row", per_row(database, "customers"));
    bench!("per-row-trusting-pool", per_row(trusting, "customers"));
    bench!("per-row-one-connection", per_row_one_connection(database));
    // One for the list, and one for each of its orders.
    let times = 1 + expected.len();
    group.bench_function("only-connections", |bencher| {
        bencher.to_async(&runtime).iter(|| only_connections(database, times));
    });
    bench!("per-row-concurrent", concurrent(database));
    bench!("in-list", in_list(database, "customers"));
    bench!("join", join(database, "customers"));
    bench!("per-row-without-index", per_row(database, "unindexed"));
    bench!("in-list-without-index", in_list(database, "unindexed"));
    bench!("join-without-index", join(database, "unindexed"));
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = query_per_row }
benches::each_alone!(benches);
