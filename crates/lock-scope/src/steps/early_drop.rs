//! One change alone: the guard is dropped before the wait. The lock is still a mutex.

use std::{sync::Arc, time::Duration};

use tokio::{sync::Mutex, time::sleep};
use tracing::Instrument as _;
use warp::{Filter, Reply, filters::BoxedFilter, http::StatusCode};

use crate::{Client, ClientMap, first_clients, insert, spans, sum, user_ids, with};

type Clients = Arc<Mutex<ClientMap>>;

/// The service's routes, with `downstream` as the wait of every read.
pub fn routes(downstream: Duration) -> BoxedFilter<(impl Reply,)> {
    let clients = with(Clients::new(Mutex::new(first_clients())));

    let read = crate::read_route().and(clients.clone()).and(with(downstream)).then(read);
    let write = crate::write_route().and(clients).then(write);
    read.or(write).recover(case_server::explain).boxed()
}

async fn read(clients: Clients, downstream: Duration) -> String {
    let user_ids = {
        let clients = clients.lock().instrument(spans::lock_wait()).await;
        let _held = spans::lock_held();
        user_ids(&clients)
    };
    sleep(downstream).instrument(spans::downstream_wait()).await;
    sum(&user_ids)
}

async fn write(name: String, client: Client, clients: Clients) -> StatusCode {
    let mut clients = clients.lock().await;
    insert(&mut clients, name, client)
}
