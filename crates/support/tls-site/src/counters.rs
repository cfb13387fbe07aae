//! What the site counts: the exact mechanism of the case.
//!
//! The counters are on the same port in plain HTTP. Reading them needs no certificate and is not
//! counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;
use tokio_rustls::rustls::HandshakeKind;

/// A connection is counted before anything is answered on it.
#[derive(Debug, Default)]
pub struct Counters {
    tcp_connections: AtomicU64,
    full_handshakes: AtomicU64,
    resumed_handshakes: AtomicU64,
    requests: AtomicU64,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// TCP connections on which a client began a TLS handshake, whether or not it completed.
    pub tcp_connections: u64,
    /// Completed TLS handshakes in which the site sent its certificate.
    pub full_handshakes: u64,
    /// Completed TLS handshakes with a ticket from an earlier connection instead.
    pub resumed_handshakes: u64,
    /// Requests that arrived over TLS.
    pub requests: u64,
}

impl Counters {
    pub fn now(&self) -> Counted {
        Counted {
            tcp_connections: self.tcp_connections.load(Relaxed),
            full_handshakes: self.full_handshakes.load(Relaxed),
            resumed_handshakes: self.resumed_handshakes.load(Relaxed),
            requests: self.requests.load(Relaxed),
        }
    }

    pub(crate) fn count_connection(&self) {
        self.tcp_connections.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_request(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_handshake(&self, kind: Option<HandshakeKind>) {
        let resumed = kind == Some(HandshakeKind::Resumed);
        let handshakes = if resumed { &self.resumed_handshakes } else { &self.full_handshakes };
        handshakes.fetch_add(1, Relaxed);
    }
}
