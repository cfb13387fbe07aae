//! The other change alone: readers share the lock. The guard still lives through the wait, so that
//! one write waits for the slowest read, and every later read waits behind that write.

use std::{sync::Arc, time::Duration};

use tokio::{sync::RwLock, time::sleep};
use tracing::Instrument as _;
use warp::{Filter, Reply, filters::BoxedFilter, http::StatusCode};

use crate::{Client, ClientMap, first_clients, insert, spans, sum, user_ids, with};

type Clients = Arc<RwLock<ClientMap>>;

/// The service's routes, with `downstream` as the wait of every read.
pub fn routes(downstream: Duration) -> BoxedFilter<(impl Reply,)> {
    let clients = with(Clients::new(RwLock::new(first_clients())));

    let read = crate::read_route().and(clients.clone()).and(with(downstream)).then(read);
    let write = crate::write_route().and(clients).then(write);
    read.or(write).recover(case_server::explain).boxed()
}

#[expect(clippy::await_holding_invalid_type, reason = "the fault that this case is about")]
async fn read(clients: Clients, downstream: Duration) -> String {
    let clients = clients.read().instrument(spans::lock_wait()).await;
    let _held = spans::lock_held();
    let user_ids = user_ids(&clients);
    sleep(downstream).instrument(spans::downstream_wait()).await;
    sum(&user_ids)
}

async fn write(name: String, client: Client, clients: Clients) -> StatusCode {
    let mut clients = clients.write().await;
    insert(&mut clients, name, client)
}
