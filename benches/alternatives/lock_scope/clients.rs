//! What the service does with its clients, for any kind of lock. As in the case, a read adds up the ids
//! of all clients, and a write replaces one client.

use std::{collections::HashMap, sync::Arc};

use benches::downstream::Downstream;
use lock_scope::{Client, ClientMap};
use tokio::runtime::Runtime;

/// The service's clients behind some kind of lock.
pub trait Clients: Send + Sync + 'static {
    /// Called within a Tokio runtime.
    fn new(clients: ClientMap) -> Self;

    /// Copies the ids out of the map, waits for the downstream, and returns the ids.
    fn read(&self, downstream: &Downstream) -> impl Future<Output = Vec<String>> + Send;

    /// Puts a client into the map.
    fn write(&self, name: String, client: Client) -> impl Future<Output = ()> + Send;
}

/// Copies the ids out of the map, as in the case.
pub fn user_ids(clients: &ClientMap) -> Vec<String> {
    clients.values().map(|client| client.user_id.to_string()).collect()
}

/// A read request, from the lock to the answer.
pub async fn read(clients: &impl Clients, downstream: &Downstream) {
    assert_eq!(sum(&clients.read(downstream).await), 6);
}

/// A write request. It leaves the sum unchanged.
pub async fn write(clients: &impl Clients) {
    clients.write("12-67-22".to_owned(), Client { user_id: 3 }).await;
}

/// Checks that an alternative reads what was written. Returns a new one with the first clients.
pub fn check<C: Clients>(runtime: &Runtime) -> Arc<C> {
    let none = Downstream::new(std::time::Duration::ZERO);
    let first_clients = || -> ClientMap {
        HashMap::from(
            [("87-89-34", 1), ("22-38-21", 2), ("12-67-22", 3)]
                .map(|(name, user_id)| (name.to_owned(), Client { user_id })),
        )
    };
    runtime.block_on(async {
        let clients = C::new(first_clients());
        read(&clients, &none).await;
        clients.write("67-89-12".to_owned(), Client { user_id: 4 }).await;
        clients.write("12-67-22".to_owned(), Client { user_id: 5 }).await;
        let mut ids = clients.read(&none).await;
        ids.sort();
        assert_eq!(ids, ["1", "2", "4", "5"]);
        Arc::new(C::new(first_clients()))
    })
}

fn sum(user_ids: &[String]) -> u64 {
    user_ids.iter().map(|id| id.parse::<u64>().expect("made from a number")).sum()
}
