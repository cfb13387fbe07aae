//! Where requests go: an address, and what a server behind a name needs besides.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Target {
    pub address: SocketAddr,
    /// The `host` header.
    pub host: String,
    /// The name in the server's certificate, if it speaks TLS.
    pub tls: Option<String>,
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Self { address, host: address.to_string(), tls: None }
    }
}
