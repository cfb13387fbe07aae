//! What the upstream counts: the exact mechanism of this case.
//!
//! A connection that asks for the counters is taken out of them, so that looking changes nothing.
//! That holds for a question to the upstream itself: one through a proxy would take out a
//! connection that the proxy uses for its visitors.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

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
    /// TCP connections accepted, whether or not TLS came about on them.
    pub tcp_connections: u64,
    /// TLS handshakes completed in which the upstream signed and sent its certificate.
    pub full_handshakes: u64,
    /// TLS handshakes completed with a ticket from an earlier connection instead.
    pub resumed_handshakes: u64,
    /// Requests that arrived, other than for the counters.
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

    pub(super) fn count_handshake(&self, kind: Option<HandshakeKind>) -> Connection {
        let resumed = kind == Some(HandshakeKind::Resumed);
        self.handshakes(resumed).fetch_add(1, Relaxed);
        Connection { resumed, asked: AtomicBool::new(false) }
    }

    /// Takes a connection on which the counters were asked for out of them, once.
    pub(super) fn forget(&self, connection: &Connection) {
        if !connection.asked.swap(true, Relaxed) {
            self.tcp_connections.fetch_sub(1, Relaxed);
            self.handshakes(connection.resumed).fetch_sub(1, Relaxed);
        }
    }

    fn handshakes(&self, resumed: bool) -> &AtomicU64 {
        if resumed { &self.resumed_handshakes } else { &self.full_handshakes }
    }
}

/// How a connection was counted.
pub(super) struct Connection {
    resumed: bool,
    asked: AtomicBool,
}
