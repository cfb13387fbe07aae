//! What the replication does with each version of the driver, next to its Criterion bench:
//!
//! - `seed URL` fills the collections (only with today's driver)
//! - `find URL COUNT` finds the article's 10,000 documents and prints what one find costs
//! - `serve URL` serves a find of 16 documents per HTTP request

mod driver;

use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use driver::{MANY, collection, find};
use mongodb::Collection;
use mongodb::bson::Document;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// As many documents make a response of 1,752 bytes; the article's had 1,753.
const FEW: (&str, usize) = ("few", 16);

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        #[cfg(feature = "builders")]
        ["seed", url] => seed(url).await,
        ["find", url, count] => measure(url, count.parse().expect("COUNT is a number")).await,
        ["serve", url] => serve(url).await,
        _ => panic!("seed URL, find URL COUNT or serve URL, not {arguments:?}"),
    }
}

#[cfg(feature = "builders")]
async fn seed(url: &str) {
    use mongodb::bson::{doc, oid::ObjectId};

    for (name, count) in [MANY, FEW] {
        // A real server keeps `_id` first, and this one keeps the order that it is given.
        let document = || {
            doc! { "_id": ObjectId::new(), "hello": "world", "anotherKey": "anotherValue", "number": 1234 }
        };
        let documents: Vec<_> = std::iter::repeat_with(document).take(count).collect();
        let collection = collection(url, name).await;
        collection.insert_many(documents).await.expect("the server takes the documents");
    }
}

async fn measure(url: &str, count: u32) {
    let many = collection(url, MANY.0).await;
    let find_all = async || {
        let documents = find(&many).await.expect("the server answers");
        assert_eq!(documents.len(), MANY.1, "documents found");
    };
    // Opens the connection, and warms this process and the server up.
    for _ in 0..5 {
        find_all().await;
    }
    let (before, start) = (usage(), Instant::now());
    for _ in 0..count {
        find_all().await;
    }
    let (seconds, after) = (start.elapsed().as_secs_f64(), usage());
    println!(
        "{}",
        serde_json::json!({
            "ms": 1000.0 * seconds / f64::from(count),
            "client_cpu_ms": 1000.0 * (after.0 - before.0).as_secs_f64() / f64::from(count),
            "page_faults": (after.1 - before.1) / i64::from(count),
        })
    );
}

/// CPU time and page faults of this process so far.
fn usage() -> (Duration, i64) {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("every Unix counts");
    let duration =
        |time: TimeVal| Duration::new(time.tv_sec() as u64, 1000 * time.tv_usec() as u32);
    (duration(usage.user_time()) + duration(usage.system_time()), usage.minor_page_faults())
}

async fn serve(url: &str) {
    let app = Router::new().route("/", get(answer)).with_state(collection(url, FEW.0).await);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("listening on http://{}", listener.local_addr().expect("a bound socket"));
    // Standard input closes when the script ends, however it ends.
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    axum::serve(listener, app).await.expect("serving ends only with the process");
}

async fn answer(State(few): State<Collection<Document>>) -> Result<String, (StatusCode, String)> {
    let broken = |fault: String| (StatusCode::BAD_GATEWAY, fault);
    let documents = find(&few).await.map_err(|error| broken(error.to_string()))?;
    if documents.len() != FEW.1 {
        return Err(broken(format!("{} documents instead of {}", documents.len(), FEW.1)));
    }
    serde_json::to_string(&documents).map_err(|error| broken(error.to_string()))
}
