//! The guard is dropped before the wait, and then the kind of lock is a matter of nanoseconds.

use std::sync::{Mutex, PoisonError, RwLock};

use benches::downstream::Downstream;
use lock_scope::{Client, ClientMap};
use tokio::sync;

use crate::clients::{Clients, user_ids};

/// As in the case's early-drop.
pub struct TokioMutex(sync::Mutex<ClientMap>);

impl Clients for TokioMutex {
    fn new(clients: ClientMap) -> Self {
        Self(sync::Mutex::new(clients))
    }

    async fn read(&self, downstream: &Downstream) -> Vec<String> {
        let user_ids = user_ids(&*self.0.lock().await);
        downstream.answer().await;
        user_ids
    }

    async fn write(&self, name: String, client: Client) {
        self.0.lock().await.insert(name, client);
    }
}

/// As in the case's fixed.
pub struct TokioRwLock(sync::RwLock<ClientMap>);

impl Clients for TokioRwLock {
    fn new(clients: ClientMap) -> Self {
        Self(sync::RwLock::new(clients))
    }

    async fn read(&self, downstream: &Downstream) -> Vec<String> {
        let user_ids = user_ids(&*self.0.read().await);
        downstream.answer().await;
        user_ids
    }

    async fn write(&self, name: String, client: Client) {
        self.0.write().await.insert(name, client);
    }
}

/// A lock that blocks its thread; as short as it is held, that is less work than to put a task aside.
///
/// Its guard is not `Send`: held across an await, this code would not compile as a handler.
pub struct StdMutex(Mutex<ClientMap>);

impl Clients for StdMutex {
    fn new(clients: ClientMap) -> Self {
        Self(Mutex::new(clients))
    }

    async fn read(&self, downstream: &Downstream) -> Vec<String> {
        let user_ids = user_ids(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        downstream.answer().await;
        user_ids
    }

    async fn write(&self, name: String, client: Client) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, client);
    }
}

/// The same for readers that share.
pub struct StdRwLock(RwLock<ClientMap>);

impl Clients for StdRwLock {
    fn new(clients: ClientMap) -> Self {
        Self(RwLock::new(clients))
    }

    async fn read(&self, downstream: &Downstream) -> Vec<String> {
        let user_ids = user_ids(&self.0.read().unwrap_or_else(PoisonError::into_inner));
        downstream.answer().await;
        user_ids
    }

    async fn write(&self, name: String, client: Client) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name, client);
    }
}
