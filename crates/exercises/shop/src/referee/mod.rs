//! The referee of the contest: which visits are drawn from a seed, what their right answers are, and what has to be
//! true of the shop afterwards.
//!
//! Every visit that changes something has a customer and products of its own. So an answer doesn't depend on how the
//! visits overlap, and every one can be checked.

mod audit;
mod question;
mod visits;

use std::{
    path::{Path, PathBuf},
    pin::Pin,
};

use anyhow::{Context as _, ensure};
use case_server::{Erased, InProcess, Limits};
use clap::{Parser, Subcommand};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;
use tokio::net::TcpListener;

use self::{
    question::ask_all,
    visits::{Visit, kinds},
};
use crate::{Options, data, fixed, stock_service};

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

/// What a run does: one level of load after the other, from a first one on.
#[derive(Serialize)]
struct Course {
    /// Visits per second.
    first_per_s: f64,
    /// In all levels together: there are orders for so many.
    most_visits: f64,
    /// How long each level lasts.
    level_s: f64,
    /// What happens to the stock service during each.
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
                audit::audit(&answered, &stock, &data).await
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
    let stall = Event { at_s: 0.6, until_s: 1.1, path: "/stall/500".to_owned() };
    Ok(Course {
        first_per_s: 200.0,
        most_visits: 37_000.0,
        level_s: 2.0,
        events: vec![stall],
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
