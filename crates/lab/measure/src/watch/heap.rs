//! The allocations of one visit, with their stacks, while no other client asks.

use std::time::Duration;

use anyhow::Context as _;
use lab_load::Visitor;
use lab_observation::{Folded, Heap};
use lab_protocol::Request;
use serde::Deserialize;
use tokio::time::Instant;

use lab_servers::{Launch, Running};

const WARM_UP: u32 = 2;
/// How long visits are sampled, and at least how many, however long they take.
const WINDOW: Duration = Duration::from_secs(2);
const LEAST: u32 = 3;

/// The server's answer about its allocations.
#[derive(Deserialize)]
struct HeapAnswer {
    /// Stacks and their bytes, of all visits together.
    folded: String,
    /// How many samples they are estimated from.
    samples: u64,
}

/// Visits a server that samples its allocations, which `launch` starts.
pub async fn sample(launch: &Launch, requests: &[Request]) -> anyhow::Result<Heap> {
    let sampling = async |Running { server, .. }: &Running| {
        let url = server.url();
        let mut visitor = Visitor::open(server.target(), requests).await?;
        for _ in 0..WARM_UP {
            visitor.visit().await?;
        }
        let reset = lab_load::get_text(url, "/.lab/heap/reset").await;
        reset.context("the server samples no allocations")?;
        let end = Instant::now() + WINDOW;
        let mut visits = 0;
        while visits < LEAST || Instant::now() < end {
            visitor.visit().await?;
            visits += 1;
        }
        anyhow::Ok((lab_load::get_text(url, "/.lab/heap").await?, visits))
    };
    let (answer, visits) = Running::with(launch, sampling).await?;
    let answer: HeapAnswer = serde_json::from_str(&answer)?;
    let stacks: Folded = answer.folded.parse().context("the server's stacks cannot be parsed")?;
    let per_visit = stacks.total() / u64::from(visits);
    Ok(Heap { stacks: stacks.scaled_to(per_visit), samples: answer.samples })
}
