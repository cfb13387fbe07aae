//! The wait until a server that was just started can be reached.

use std::collections::BTreeSet;

use http::Uri;
use lab_system::process;

use super::{
    Address, Launch,
    output::ServerOutput,
    search::{Attempts, ports, search, wait_for},
};

/// The advice for a server that does not listen.
const GIVE_PORT: &str = "\n  give it a port by `{port}` in its command, --port-env or --port-arg; or say --port N if it always \
     has the same one; --patience N waits for N seconds";
const LONGER: &str = "\n  what does it print? --patience N waits for N seconds";

/// Waits until a server that was just started can be reached. Also returns all its ports, if it was
/// searched for.
pub async fn find(
    launch: &Launch,
    port: Option<u16>,
    pid: u32,
    output: &ServerOutput,
    attempts: &Attempts<'_>,
) -> anyhow::Result<(Uri, Option<BTreeSet<u16>>)> {
    let (found, ports) = match port {
        _ if launch.address == Address::Announced => return Ok((output.url().await?, None)),
        Some(port) => (wait_for(port, attempts).await?, None),
        None => {
            let (found, ports) = search(pid, output, attempts).await?;
            (found, Some(ports))
        }
    };
    Ok((format!("http://{found}").parse()?, ports))
}

/// Why a server was not found in time, and what to try.
pub async fn unreachable(
    launch: &Launch,
    port: Option<u16>,
    pid: u32,
    attempts: &Attempts<'_>,
) -> (String, &'static str) {
    let seconds = launch.patience().as_secs_f64();
    if launch.address == Address::Announced {
        return (format!("did not print `listening on URL` within {seconds} s"), LONGER);
    }
    let listeners = process::listeners(pid).unwrap_or_default();
    let ports = ports(&listeners);
    let shown = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    let (trouble, advice) = match port {
        _ if ports.is_empty()
            && let Some(path) = process::unix_listener(pid) =>
        {
            (
                format!("listens only on the unix socket {path}, not on a port,"),
                "\n  `lab` speaks HTTP over TCP: let the server listen on a port, too",
            )
        }
        None if ports.is_empty() => ("does not listen on any port".to_owned(), GIVE_PORT),
        // It was given one.
        Some(port) if ports.is_empty() => (format!("does not listen on port {port}"), LONGER),
        Some(port) if !ports.contains(&port) => (
            format!("does not listen on port {port}, but on {shown}"),
            "\n  --port N names the port that it always has",
        ),
        _ => {
            let why = match listeners.first() {
                Some(listener) if lab_load::speaks_tls(*listener).await => {
                    lab_load::IN_TLS.to_owned()
                }
                _ => attempts.obstacle().unwrap_or_else(|| "it accepts no connection".to_owned()),
            };
            return (
                format!("listens on {shown}, but is not ready after {seconds} s: {why}"),
                "\n  it has to accept a connection and, with --ready, to answer a GET with success; --patience N \
                 waits for N seconds",
            );
        }
    };
    (format!("{trouble} after {seconds} s"), advice)
}
