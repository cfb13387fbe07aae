//! Three ways without a lock around the whole map.

use arc_swap::ArcSwap;
use benches::downstream::Downstream;
use dashmap::DashMap;
use lock_scope::{Client, ClientMap};
use tokio::sync::{mpsc, oneshot};

use crate::clients::{Clients, user_ids};

/// A map in shards, each with its own lock: made for many threads that each want one entry.
///
/// This read wants all entries, so it takes all locks, one after another. It doesn't see a consistent
/// snapshot, because a write may happen between two shards.
pub struct Sharded(DashMap<String, Client>);

impl Clients for Sharded {
    fn new(clients: ClientMap) -> Self {
        Self(clients.into_iter().collect())
    }

    async fn read(&self, downstream: &Downstream) -> Vec<String> {
        let user_ids = self.0.iter().map(|client| client.user_id.to_string()).collect();
        downstream.answer().await;
        user_ids
    }

    async fn write(&self, name: String, client: Client) {
        self.0.insert(name, client);
    }
}

/// A pointer to an immutable map. Readers never wait, and a write copies the whole map.
pub struct Swapped(ArcSwap<ClientMap>);

impl Clients for Swapped {
    fn new(clients: ClientMap) -> Self {
        Self(ArcSwap::from_pointee(clients))
    }

    async fn read(&self, downstream: &Downstream) -> Vec<String> {
        let user_ids = user_ids(&self.0.load());
        downstream.answer().await;
        user_ids
    }

    async fn write(&self, name: String, client: Client) {
        self.0.rcu(|clients| {
            let mut clients = ClientMap::clone(clients);
            clients.insert(name.clone(), client.clone());
            clients
        });
    }
}

/// A task that owns the map and receives messages from all others.
pub struct Owned(mpsc::Sender<Message>);

enum Message {
    Read(oneshot::Sender<Vec<String>>),
    Write(String, Client),
}

/// How many messages may wait for the owner before senders wait too.
const QUEUE: usize = 64;

impl Clients for Owned {
    fn new(mut clients: ClientMap) -> Self {
        let (sender, mut messages) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                match message {
                    // A reader that is gone needs no answer.
                    Message::Read(answer) => drop(answer.send(user_ids(&clients))),
                    Message::Write(name, client) => drop(clients.insert(name, client)),
                }
            }
        });
        Self(sender)
    }

    async fn read(&self, downstream: &Downstream) -> Vec<String> {
        let (answer, answered) = oneshot::channel();
        self.send(Message::Read(answer)).await;
        let user_ids = answered.await.expect("the owner answers");
        downstream.answer().await;
        user_ids
    }

    async fn write(&self, name: String, client: Client) {
        self.send(Message::Write(name, client)).await;
    }
}

impl Owned {
    async fn send(&self, message: Message) {
        assert!(self.0.send(message).await.is_ok(), "the owner runs");
    }
}
