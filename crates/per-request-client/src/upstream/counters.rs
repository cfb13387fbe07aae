//! What the upstream counts: the exact mechanism of this case.
//!
//! Its visitors speak TLS. Who asks for the counters speaks plain HTTP to the same port, and is not
//! counted: looking changes nothing, and needs no certificate.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;
use tokio_rustls::rustls::HandshakeKind;

/// Counts while the upstream runs. A connection is counted before anything is answered on it.
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
    /// TCP connections accepted on which a client began to speak TLS, whether or not it came about.
    pub tcp_connections: u64,
    /// TLS handshakes completed in which the upstream signed and sent its certificate.
    pub full_handshakes: u64,
    /// TLS handshakes completed with a ticket from an earlier connection instead.
    pub resumed_handshakes: u64,
    /// Requests that arrived over TLS.
    pub requests: u64,
}

impl Counters {
    /// The counters as they are now.
    pub fn now(&self) -> Counted {
        Counted {
            tcp_connections: self.tcp_connections.load(Relaxed),
            full_handshakes: self.full_handshakes.load(Relaxed),
            resumed_handshakes: self.resumed_handshakes.load(Relaxed),
            requests: self.requests.load(Relaxed),
        }
    }

    pub(super) fn count_connection(&self) {
        self.tcp_connections.fetch_add(1, Relaxed);
    }

    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    pub(super) fn count_handshake(&self, kind: Option<HandshakeKind>) {
        let resumed = kind == Some(HandshakeKind::Resumed);
        let handshakes = if resumed { &self.resumed_handshakes } else { &self.full_handshakes };
        handshakes.fetch_add(1, Relaxed);
    }
}
