//! Looks like a fix under a load that only reads, because readers share the lock. But the guard
//! still lives through the wait. A write waits for all reads ahead of it, and all reads behind the
//! write wait for it.

use std::{sync::Arc, time::Duration};

use tokio::sync::RwLock;
use warp::{Filter, Reply, filters::BoxedFilter, http::StatusCode};

use crate::{Client, ClientMap, ask_downstream, first_clients, sum, user_ids, with};

type Clients = Arc<RwLock<ClientMap>>;

/// The service's routes. Every read waits `downstream` for another service.
pub fn routes(downstream: Duration) -> BoxedFilter<(impl Reply,)> {
    let clients = with(Clients::new(RwLock::new(first_clients())));

    let read = crate::read_route().and(clients.clone()).and(with(downstream)).then(read);
    let write = crate::write_route().and(clients).then(write);
    read.or(write).recover(case_server::explain).boxed()
}

#[expect(clippy::await_holding_invalid_type, reason = "the fault that this case is about")]
async fn read(clients: Clients, downstream: Duration) -> String {
    let clients = clients.read().await;
    let user_ids = user_ids(&clients);
    ask_downstream(downstream).await;
    sum(&user_ids)
}

async fn write(name: String, user_id: u32, clients: Clients) -> StatusCode {
    clients.write().await.insert(name, Client { user_id });
    StatusCode::NO_CONTENT
}
