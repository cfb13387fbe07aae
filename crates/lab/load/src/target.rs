//! Where requests go: an address, and what a server behind a name needs besides.

use std::{io::Error, net::SocketAddr, time::Duration};

use anyhow::{Context as _, bail, ensure};
use http::Uri;
use serde::{Deserialize, Serialize};
use tokio::{net::TcpStream, time::timeout};

/// How long a host may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(5);

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

impl Target {
    /// Looks up the host in a URL, and takes the first of its addresses that accepts a connection.
    pub async fn of(url: &Uri) -> anyhow::Result<Self> {
        let (usual, is_tls) = match url.scheme_str() {
            Some("http") => (80, false),
            Some("https") => (443, true),
            _ => bail!("`{url}` must start with http:// or https://"),
        };
        let authority = url.authority().with_context(|| format!("`{url}` names no server"))?;
        ensure!(!authority.as_str().contains('@'), "give the credentials in `{url}` with --header");
        let name = authority.host().trim_matches(['[', ']']);
        let port = authority.port_u16().unwrap_or(usual);
        let stream = timeout(PATIENCE, TcpStream::connect((name, port))).await;
        let stream = stream.map_err(Error::from).flatten();
        let address = stream.with_context(|| format!("cannot connect to {url}"))?.peer_addr()?;
        Ok(Self { address, host: authority.to_string(), tls: is_tls.then(|| name.to_owned()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_url_is_an_address_a_host_and_a_name_for_the_certificate() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        for (scheme, name, tls) in [("http", "127.0.0.1", None), ("https", "localhost", Some(()))] {
            let host = format!("{name}:{}", address.port());
            let url = format!("{scheme}://{host}/users").parse().unwrap();
            let tls = tls.map(|()| name.to_owned());
            assert_eq!(Target::of(&url).await.unwrap(), Target { address, host, tls });
        }
        drop(listener);
        let url = format!("http://{address}/").parse().unwrap();
        let error = Target::of(&url).await.unwrap_err().to_string();
        assert_eq!(error, format!("cannot connect to http://{address}/"));
    }
}
