//! The guard is dropped before the wait. Then the kinds of lock differ only by nanoseconds.

use std::sync::{Mutex, PoisonError, RwLock};

use benches::downstream::Downstream;
use lock_scope::{Client, ClientMap};
use tokio::sync;

use crate::clients::{Clients, user_ids};

/// Like the case's `fixed`.
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

/// Readers share the lock.
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

/// A lock that blocks its thread. It is held so briefly that blocking costs less than suspending a task.
///
/// Its guard isn't `Send`, so a handler that holds it across an await doesn't compile.
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

/// Like [`StdMutex`], but readers share the lock.
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
