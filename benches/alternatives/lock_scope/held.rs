//! The fault with two kinds of lock: the guard lives through the wait.

use benches::downstream::Downstream;
use lock_scope::{Client, ClientMap};
use tokio::sync::{Mutex, RwLock};

use crate::clients::{Clients, user_ids};

/// Like the case's `slow`.
pub struct TokioMutex(Mutex<ClientMap>);

impl Clients for TokioMutex {
    fn new(clients: ClientMap) -> Self {
        Self(Mutex::new(clients))
    }

    #[expect(clippy::await_holding_invalid_type, reason = "the fault that is measured")]
    async fn read(&self, downstream: &Downstream) -> Vec<String> {
        let clients = self.0.lock().await;
        let user_ids = user_ids(&clients);
        downstream.answer().await;
        user_ids
    }

    async fn write(&self, name: String, client: Client) {
        self.0.lock().await.insert(name, client);
    }
}

/// Like the case's `rwlock-held`: readers share the lock until somebody wants to write.
pub struct TokioRwLock(RwLock<ClientMap>);

impl Clients for TokioRwLock {
    fn new(clients: ClientMap) -> Self {
        Self(RwLock::new(clients))
    }

    #[expect(clippy::await_holding_invalid_type, reason = "the fault that is measured")]
    async fn read(&self, downstream: &Downstream) -> Vec<String> {
        let clients = self.0.read().await;
        let user_ids = user_ids(&clients);
        downstream.answer().await;
        user_ids
    }

    async fn write(&self, name: String, client: Client) {
        self.0.write().await.insert(name, client);
    }
}
