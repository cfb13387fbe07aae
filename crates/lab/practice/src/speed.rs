//! The last gates: how much faster the reader's server is, in pairs of runs under the load of the case.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use lab_cases::{Case, Criteria, SLOW};
use lab_load::Visitor;
use lab_measure::bench::{Comparison, Effort};
use lab_model::Ask;
use lab_report::CaseRecord;
use lab_servers::{Launch, Running};
use lab_system::Progress;

use crate::{
    asked::expected,
    draw::{Draw, Phase},
    servers::Servers,
};

/// How long `slow` is asked for the answers to the drawn requests. It answers fewer of them in a run, so a cache
/// that is empty at the start of a run is of no use.
pub(super) const ASKED: Duration = Duration::from_millis(1_500);
/// The least and the most requests, if `slow` is very slow or very quick.
const BOUNDS: (usize, usize) = (32, 8_192);
/// How many requests are asked for together, by users with as many each.
const TOGETHER: (usize, usize) = (4, 8);

/// The load of a check: the case with the wait that was drawn, and the drawn requests.
pub(super) struct DrawnLoad<'a> {
    servers: &'a Servers,
    case: Case,
    /// Empty if the case draws none.
    asks: Vec<Ask>,
    /// Has their bodies.
    _draw: Draw,
}

impl<'a> DrawnLoad<'a> {
    pub async fn draw(
        servers: &'a Servers,
        case: &Case,
        criteria: &Criteria,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let mut draw = Draw::of(seed, Phase::Speed)?;
        let (case, _) = draw.wait(case);
        let slow = servers.launch(&case, SLOW)?;
        let asks = if criteria.timed.is_empty() {
            Vec::new()
        } else {
            drawn(&slow, &criteria.timed, &mut draw).await?
        };
        Ok(Self { servers, case, asks, _draw: draw })
    }

    /// Measures variants, the last one against the first; one alone gets the two runs of its control.
    pub async fn compare<const N: usize>(
        &self,
        variants: [&str; N],
        effort: Effort,
    ) -> anyhow::Result<CaseRecord> {
        let names = variants.map(str::to_owned);
        let mut comparison = Comparison::of_case(self.servers.workspace(), &self.case, &names)?;
        for subject in &mut comparison.subjects {
            subject.launch = self.servers.launch(&self.case, &subject.name)?;
            if !self.asks.is_empty() {
                subject.asks.clone_from(&self.asks);
            }
        }
        comparison.engine.options.in_turn = !self.asks.is_empty();
        let progress = Progress::planned(comparison.length(effort));
        comparison.record(variants[N - 1], effort, &progress).await
    }
}

/// Many requests, with the answers that `slow` gives.
async fn drawn(slow: &Launch, lines: &[String], draw: &mut Draw) -> anyhow::Result<Vec<Ask>> {
    Running::with(slow, async |Running { server, .. }| {
        let (start, mut all) = (Instant::now(), Vec::new());
        let (fewest, most) = BOUNDS;
        let (users, each) = TOGETHER;
        while all.len() < fewest || (all.len() < most && start.elapsed() < ASKED) {
            let several: Vec<_> = lines.iter().cloned().cycle().take(users * each).collect();
            let mut asks = draw.asks(&several)?;
            let visit = async |asks| Visitor::open(server.target(), asks).await?.answers().await;
            let right = try_join_all(asks.chunks(each).map(visit)).await?.concat();
            asks.iter_mut().zip(right).for_each(|(ask, right)| ask.expected = expected(right));
            all.extend(asks);
        }
        Ok(all)
    })
    .await
}
