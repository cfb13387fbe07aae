//! From the URL of a server to where requests go.

use std::{io::Error, net::SocketAddr, time::Duration};

use anyhow::{Context as _, bail, ensure};
use http::Uri;
use lab_model::Target;
use tokio::{net::TcpStream, time::timeout};

/// How long a host may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks up the host in a URL, and takes the first of its addresses that accepts a connection.
pub async fn resolve(url: &Uri) -> anyhow::Result<Target> {
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
    Ok(Target { address, host: authority.to_string(), tls: is_tls.then(|| name.to_owned()) })
}

/// The address in a URL such as `http://127.0.0.1:8080/`.
pub fn address(url: &Uri) -> anyhow::Result<SocketAddr> {
    let authority = url.authority().with_context(|| format!("`{url}` names no server"))?;
    authority
        .as_str()
        .parse()
        .with_context(|| format!("`{authority}` is not an IP address and port"))
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
            assert_eq!(resolve(&url).await.unwrap(), Target { address, host, tls });
        }
        drop(listener);
        let url = format!("http://{address}/").parse().unwrap();
        let error = resolve(&url).await.unwrap_err().to_string();
        assert_eq!(error, format!("cannot connect to http://{address}/"));
    }
}
