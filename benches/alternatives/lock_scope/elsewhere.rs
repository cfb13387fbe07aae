//! Three ways without a lock around the whole map.

use arc_swap::ArcSwap;
use benches::downstream::Downstream;
use dashmap::DashMap;
use lock_scope::{Client, ClientMap};
use tokio::sync::{mpsc, oneshot};

use crate::clients::{Clients, user_ids};

/// A map in shards, each with a lock of its own: made for many threads that each want one entry.
///
/// This read wants all entries, and so takes all locks, one after the other. What it sees is then no
/// snapshot: a write may come between two shards.
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

/// A pointer to a map that nobody changes. Readers never wait; a write copies the whole map, which
/// costs more the larger the map is.
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

/// A task that owns the map. All others send it messages.
pub struct Owned(mpsc::Sender<Message>);

enum Message {
    Read(oneshot::Sender<Vec<String>>),
    Write(String, Client),
}

/// Messages that may wait for the owner; who has one more waits too.
const QUEUE: usize = 64;

impl Clients for Owned {
    fn new(mut clients: ClientMap) -> Self {
        let (sender, mut messages) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                match message {
                    // A reader that has gone away needs no answer.
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
