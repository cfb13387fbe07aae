//! A read copies the ids, asks the other service, and answers with the sum of the ids.

use std::{sync::Arc, time::Duration};

use warp::{Filter, Reply, filters::BoxedFilter, http::StatusCode};

use crate::{Client, ClientMap, Mutex, ask_downstream, first_clients, sum, user_ids, with};

type Clients = Arc<Mutex<ClientMap>>;

/// The service's routes. Every read waits `downstream` for another service.
pub fn routes(downstream: Duration) -> BoxedFilter<(impl Reply,)> {
    let clients = with(Clients::new(Mutex::new(first_clients())));

    let read = crate::read_route().and(clients.clone()).and(with(downstream)).then(read);
    let write = crate::write_route().and(clients).then(write);
    read.or(write).recover(case_server::explain).boxed()
}

async fn read(clients: Clients, downstream: Duration) -> String {
    let clients = clients.lock().await;
    let user_ids = user_ids(&clients);
    ask_downstream(downstream).await;
    sum(&user_ids)
}

async fn write(name: String, user_id: u32, clients: Clients) -> StatusCode {
    clients.lock().await.insert(name, Client { user_id });
    StatusCode::NO_CONTENT
}
