//! The referee of the contest: which visits are drawn from a seed, what their right answers are, and what has to be
//! true of the shop afterwards.
//!
//! Every visit that changes something has a customer and products of its own. So an answer doesn't depend on how the
//! visits overlap, and every one can be checked.

use std::{
    fs,
    path::{Path, PathBuf},
    pin::Pin,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use axum::{body::Bytes, http::Request};
use case_server::{Erased, InProcess, Limits};
use clap::{Parser, Subcommand};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::net::TcpListener;

use crate::{
    Options,
    data::{self, LOGGED_IN, mixed},
    fixed, stock_service,
};

/// Says what the contest of the shop asks, and judges what the requests can't show
#[derive(Debug, Parser)]
#[command(name = "shop-referee")]
pub struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print the course of a run as JSON: its load, its visits and their right answers
    Course {
        #[arg(long, value_name = "N")]
        seed: u32,
        /// A directory for the bodies of requests
        #[arg(long, value_name = "DIR")]
        bodies: PathBuf,
    },
    /// Make the data that a shop begins with
    Data {
        #[arg(long, value_name = "N")]
        seed: u32,
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
    },
    /// Read from standard input how many requests were answered, and fail unless log, stock and passwords agree
    Audit {
        /// The stock service, which has run all the time
        #[arg(long, value_name = "HOST:PORT")]
        stock: String,
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
    },
    /// Print the right answer to one request
    Answer {
        #[arg(long, value_name = "N")]
        seed: u32,
        kind: String,
        alternative: usize,
        request: usize,
    },
}

/// What a run does: the load rises until the shop is overloaded, and then it stays at a share of that.
#[derive(Serialize)]
struct Course {
    /// Visits per second at its begin.
    rate_per_s: f64,
    doubles_every_s: f64,
    /// It doesn't rise for longer.
    rise_s: f64,
    /// It doesn't rise any more when a visit has waited as long as this: the shop is overloaded then.
    behind_s: f64,
    /// Of the visits per second that the shop has shown to manage.
    share: f64,
    most_per_s: f64,
    steady_s: f64,
    /// What happens to the stock service while the load is steady.
    events: Vec<Event>,
    visits: Vec<Visit>,
}

#[derive(Serialize)]
struct Event {
    at_s: f64,
    /// Until then, a second right answer counts.
    until_s: f64,
    /// A `POST` to this path makes it happen.
    path: String,
}

/// A kind of visits.
#[derive(Serialize)]
struct Visit {
    name: &'static str,
    weight: u32,
    /// In 99 of 100 visits, the last answer has to come within this time.
    objective_ms: u32,
    /// The request of each that has to get the same answer from a shop that was started again.
    again: Option<usize>,
    /// How many of its answers have a number that the stock service was asked for.
    stock_reads: u64,
    /// The reservations that each makes, by the reference; empty if it makes none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    references: Vec<String>,
    alternatives: Vec<Vec<Ask>>,
}

/// A request, as a load plan has it.
#[derive(Serialize)]
struct Ask {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body_file: Option<PathBuf>,
    expected: serde_json::Value,
}

/// A request before anybody knows its answer.
#[derive(Clone)]
struct Question {
    method: &'static str,
    path: String,
    customer: Option<u32>,
    json: Option<String>,
}

/// What was answered rightly, and in time or not.
#[derive(Deserialize)]
struct Answered {
    requests: u64,
    stock_reads: u64,
    references: Vec<String>,
}

#[derive(Deserialize)]
struct Counters {
    reads: u64,
}

/// The longest answer that a course has as text.
const LONGEST_TEXT: usize = 200;
/// What a product's page says about its stock, before and after the number.
const IN_STOCK: (&str, &str) = ("<p>In stock: ", "</p>");
const NO_NUMBER: &str = "ask us";

impl Command {
    /// Does what the command line says.
    ///
    /// # Errors
    ///
    /// Those of the verb. An audit's say which rule the shop broke.
    pub async fn run(self) -> anyhow::Result<()> {
        match self.verb {
            Verb::Course { seed, bodies } => {
                println!("{}", serde_json::to_string(&course(seed, &bodies).await?)?);
                Ok(())
            }
            Verb::Data { seed, data } => data::make(&data, seed).await,
            Verb::Audit { stock, data } => {
                let answered =
                    serde_json::from_reader(std::io::stdin()).context("not what was answered")?;
                audit(&answered, &stock, &data).await
            }
            Verb::Answer { seed, kind, alternative, request } => {
                let drawn = kinds(seed).into_iter().find(|it| it.0.name == kind);
                let (_, mut alternatives) =
                    drawn.with_context(|| format!("no visit is called `{kind}`"))?;
                ensure!(
                    alternative < alternatives.len(),
                    "`{kind}` has {} alternatives",
                    alternatives.len()
                );
                let visit = alternatives.swap_remove(alternative);
                ensure!(request < visit.len(), "this visit has {} requests", visit.len());
                let shop = &reference_shop(seed).await?;
                let answers = ask_all(shop, &visit[..=request], seed).await?;
                print!("{}", String::from_utf8_lossy(&answers[request].1));
                Ok(())
            }
        }
    }
}

async fn course(seed: u32, bodies: &Path) -> anyhow::Result<Course> {
    let shop = &reference_shop(seed).await?;
    let mut visits = Vec::new();
    for (mut visit, alternatives) in kinds(seed) {
        let asked = stream::iter(alternatives).map(|questions| {
            let (shop, bodies) = (shop.clone(), bodies.to_owned());
            tokio::spawn(async move {
                let answers = ask_all(&shop, &questions, seed).await?;
                let asks = questions.iter().zip(answers);
                asks.map(|(question, answer)| question.with_answer(answer, seed, &bodies)).collect()
            })
        });
        visit.alternatives = asked.buffered(16).map(|asks| asks?).try_collect().await?;
        visits.push(visit);
    }
    let stall = |at_s| Event { at_s, until_s: at_s + 1.0, path: "/stall/1000".to_owned() };
    Ok(Course {
        rate_per_s: 120.0,
        doubles_every_s: 3.5,
        rise_s: 16.5,
        behind_s: 1.5,
        share: 0.6,
        // There are not more orders.
        most_per_s: 2_000.0,
        steady_s: 6.0,
        events: [0.8, 3.4].map(stall).into(),
        visits,
    })
}

/// What a shop should be, and its stock service.
async fn reference_shop(seed: u32) -> anyhow::Result<InProcess> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let stock = format!("http://{}", listener.local_addr()?).parse()?;
    let service = Erased::new(stock_service::routes(stock_service::Options { seed }));
    let never: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(std::future::pending());
    tokio::spawn(case_server::serve(listener, service, Limits::default(), never));
    Ok(InProcess::new(fixed::routes(&Options { stock, data: None, seed })?))
}

/// Makes a visit.
async fn ask_all(
    shop: &InProcess,
    questions: &[Question],
    seed: u32,
) -> anyhow::Result<Vec<(u16, Bytes)>> {
    let mut answers = Vec::new();
    for question in questions {
        let mut answer = question.ask(shop, seed).await?;
        // On a busy machine, the stock service may be late for one of a thousand visits at once.
        while without_stock(&answer.1).is_some_and(|page| page == answer.1) {
            answer = question.ask(shop, seed).await?;
        }
        answers.push(answer);
    }
    Ok(answers)
}

impl Question {
    fn get(path: String) -> Self {
        Self { method: "GET", path, customer: None, json: None }
    }

    fn with_json(method: &'static str, path: &str, json: serde_json::Value) -> Self {
        Self { method, path: path.to_owned(), customer: None, json: Some(json.to_string()) }
    }

    fn of(self, customer: u32) -> Self {
        Self { customer: Some(customer), ..self }
    }

    fn headers(&self, seed: u32) -> Vec<(&'static str, String)> {
        let cookie =
            self.customer.map(|it| ("cookie", format!("session={}", data::token_of(it, seed))));
        let json = self.json.as_ref().map(|_| ("content-type", "application/json".to_owned()));
        cookie.into_iter().chain(json).collect()
    }

    async fn ask(&self, shop: &InProcess, seed: u32) -> anyhow::Result<(u16, Bytes)> {
        let mut request = Request::builder().method(self.method).uri(&self.path);
        for (name, value) in self.headers(seed) {
            request = request.header(name, value);
        }
        Ok(shop.ask(request.body(self.json.clone().unwrap_or_default())?).await)
    }

    fn with_answer(
        &self,
        (status, body): (u16, Bytes),
        seed: u32,
        bodies: &Path,
    ) -> anyhow::Result<Ask> {
        let body_file = self.json.as_ref().map(|json| {
            let file = bodies.join(format!("{:08x}.json", crc32fast::hash(json.as_bytes())));
            fs::write(&file, json).with_context(|| format!("cannot write {}", file.display()))?;
            anyhow::Ok(file)
        });
        let mut expected = json!({ "status": status, "answer": answer(&body) });
        if let Some(other) = without_stock(&body) {
            expected["or"] = answer(other.as_bytes());
        }
        let (method, path, headers) = (self.method, self.path.clone(), self.headers(seed));
        Ok(Ask { method, path, headers, body_file: body_file.transpose()?, expected })
    }
}

fn answer(body: &[u8]) -> serde_json::Value {
    match str::from_utf8(body) {
        Ok(text) if text.len() <= LONGEST_TEXT => json!({ "text": text }),
        _ => json!({ "digest": { "bytes": body.len(), "crc32": crc32fast::hash(body) } }),
    }
}

/// A product's page as it is while the stock service doesn't answer.
fn without_stock(page: &[u8]) -> Option<String> {
    let (before, rest) = str::from_utf8(page).ok()?.split_once(IN_STOCK.0)?;
    let (_, after) = rest.split_once(IN_STOCK.1)?;
    Some([before, IN_STOCK.0, NO_NUMBER, IN_STOCK.1, after].concat())
}

/// Who comes, and what for. Customers and products are parted between the kinds.
fn kinds(seed: u32) -> Vec<(Visit, Vec<Vec<Question>>)> {
    let random = |nth: u32, salt: u32, choices: u32| mixed(nth, seed ^ salt) % choices;
    let page_of = |page: u32| Question::get(format!("/products?page={page}"));
    let product_page = |id: u32| Question::get(format!("/products/{id}"));
    let kind = |name, weight, objective_ms| Visit {
        name,
        weight,
        objective_ms,
        again: None,
        stock_reads: 0,
        references: Vec::new(),
        alternatives: Vec::new(),
    };

    let browse = (0..120).map(|nth| vec![page_of(1 + random(nth, 1, 60))]);
    let product = (0..400).map(|nth| vec![product_page(1 + random(nth, 2, 1_100))]);
    let search = (0..50).map(|nth| vec![Question::get(format!("/search?q={}", data::word(nth)))]);
    let basket = (0..400).map(|nth| {
        let entry =
            |entry| (1 + random(nth * 8 + entry, 3, 1_100), 1 + random(nth * 8 + entry, 4, 5));
        let entries: Vec<_> = (0..1 + random(nth, 5, 5)).map(entry).collect();
        let put = Question::with_json("PUT", "/basket", json!(entries));
        vec![put.of(1 + nth), Question::get("/basket".to_owned()).of(1 + nth)]
    });
    let orders = (0..400).map(|nth| vec![Question::get("/orders".to_owned()).of(601 + nth)]);

    let reference = |nth: u32| format!("new-{nth}-{:08x}", mixed(nth, seed ^ 6));
    let is_refused = |nth: &u32| random(*nth, 7, 10) == 0;
    let checkout = (0..1_400).map(|nth| {
        let (customer, own) = (1_201 + nth, 2_201 + nth);
        // Of the products that several orders have, there is enough for all of them.
        let amount = if is_refused(&nth) { 500 } else { 1 + random(nth, 8, 5) };
        let basket = json!([(own, amount), (1_101 + nth % 100, 1), (1_101 + (nth + 50) % 100, 1)]);
        vec![
            product_page(own),
            Question::with_json("PUT", "/basket", basket).of(customer),
            Question::with_json("POST", "/checkout", json!({ "reference": reference(nth) }))
                .of(customer),
            Question::get("/orders".to_owned()).of(customer),
            product_page(own),
        ]
    });
    let login = (0..64).map(|nth| {
        let customer = LOGGED_IN + 1 + random(nth, 9, data::CUSTOMERS - LOGGED_IN);
        let password = data::password_of(customer + u32::from(random(nth, 10, 4) == 0));
        let login = json!({ "mail": data::mail_of(customer), "password": password });
        vec![Question::with_json("POST", "/login", login)]
    });
    // The ten cheapest products, which a search shows, stay the same.
    let is_dear = |id: &u32| data::product(*id, seed).cents > 3_000;
    let alone: Vec<_> = (2_001..=2_200).filter(is_dear).collect();
    // One price in five is seen in a list, the others on the product's page. A visit comes again after so many others
    // that it can't meet itself.
    let price = (0..400).map(|nth: u32| {
        let (page, id) = (61 + nth / 5 % 40, alone[nth as usize % alone.len()]);
        let (id, seen) = if nth.is_multiple_of(5) {
            let listed = (20 * (page - 1) + 1..=20 * page).find(is_dear);
            (listed.unwrap_or(20 * page), page_of(page))
        } else {
            (id, product_page(id))
        };
        let set = |salt| {
            let cents = json!({ "cents": 9_200 + random(nth, salt, 900) });
            Question::with_json("PUT", &format!("/products/{id}/price"), cents)
        };
        vec![set(11), seen.clone(), set(12), seen]
    });

    let references =
        (0..1_400).map(|nth| if is_refused(&nth) { String::new() } else { reference(nth) });
    vec![
        (kind("browse", 60, 100), browse.collect()),
        (Visit { stock_reads: 1, ..kind("product", 50, 250) }, product.collect()),
        (kind("search", 16, 100), search.collect()),
        (Visit { again: Some(1), ..kind("basket", 32, 100) }, basket.collect()),
        (kind("orders", 22, 100), orders.collect()),
        (
            Visit {
                again: Some(3),
                stock_reads: 2,
                references: references.collect(),
                ..kind("checkout", 8, 1_500)
            },
            checkout.collect(),
        ),
        (kind("login", 2, 500), login.collect()),
        (kind("price", 4, 250), price.collect()),
    ]
}

/// What answers don't show.
async fn audit(answered: &Answered, stock: &str, dir: &Path) -> anyhow::Result<()> {
    let log = dir.join(data::LOG);
    let lines =
        fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))?;
    let lines = lines.lines().filter(|line| is_log_line(line)).count() as u64;
    ensure!(
        lines >= answered.requests,
        "{} requests were answered, and {} has {lines} lines such as `2026-11-26T15:56:23Z GET /basket 200 1.5ms`",
        answered.requests,
        data::LOG
    );

    let counters: Counters = serde_json::from_str(&ask(stock, "/counters").await?)?;
    ensure!(
        counters.reads >= answered.stock_reads,
        "{} pages said how much there is of a product, and the stock service was asked {} times",
        answered.stock_reads,
        counters.reads
    );
    let reserved: Vec<String> = serde_json::from_str(&ask(stock, "/reservations").await?)?;
    let missing = answered.references.iter().find(|it| !it.is_empty() && !reserved.contains(it));
    ensure!(
        missing.is_none(),
        "the order {} was taken, but nothing is reserved for it",
        missing.unwrap_or(&String::new())
    );

    let options = SqliteConnectOptions::new().filename(dir.join(data::DATABASE)).read_only(true);
    let mut database = SqliteConnection::connect_with(&options).await?;
    let strong = format!("$argon2id$v=19$m={},t={},p=1$%", data::MEMORY_KIB, data::PASSES);
    let (weak,): (u32,) =
        sqlx::query_as("SELECT COUNT(*) FROM customers WHERE password NOT LIKE ?")
            .bind(strong)
            .fetch_one(&mut database)
            .await?;
    ensure!(weak == 0, "the hashes of {weak} passwords cost less than they did");
    Ok(())
}

/// When, method, path, status, duration.
fn is_log_line(line: &str) -> bool {
    let parts: Vec<_> = line.split(' ').collect();
    parts.len() == 5 && parts[2].starts_with('/') && parts[3].len() == 3 && parts[4].ends_with("ms")
}

/// The answer of the stock service to a `GET`.
#[expect(clippy::disallowed_methods, reason = "it asks twice in a run")]
async fn ask(stock: &str, path: &str) -> anyhow::Result<String> {
    use http_body_util::{BodyExt as _, Empty};
    use hyper_util::{client::legacy::Client, rt::TokioExecutor};
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let answer = tokio::time::timeout(
        Duration::from_secs(10),
        client.get(format!("{stock}{path}").parse()?),
    );
    let body = answer.await??.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(body.into())?)
}
