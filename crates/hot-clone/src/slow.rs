//! Every round parses the ids and adds them up.

use warp::{Filter, Reply, filters::BoxedFilter};

use crate::{Clients, first_clients, user_ids, with};

/// The service's routes.
pub fn routes() -> BoxedFilter<(impl Reply,)> {
    let clients = with(first_clients());

    crate::cpu_route().and(clients).then(cpu).recover(case_server::explain).boxed()
}

async fn cpu(rounds: u64, clients: Clients) -> String {
    let user_ids = user_ids(&clients);
    sum_in_rounds(&user_ids, rounds).to_string()
}

/// Not inlined, so that a profile shows it under its own name.
#[inline(never)]
fn sum_in_rounds(user_ids: &[String], rounds: u64) -> u64 {
    let mut result = 0;
    for i in 0..rounds {
        result += user_ids
            .iter()
            .cloned()
            .map(|user_id| user_id.parse::<u64>().expect("made from a number"))
            .fold(i, |sum, id| sum + id);
    }
    result
}
