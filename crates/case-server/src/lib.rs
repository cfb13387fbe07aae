//! The server shell that all cases share, so that a case crate holds nothing but its lesson.
//!
//! A variant's binary is one line over [`main`]: it names the case's own options and how they
//! become a service. Flags, the announcement, timeouts, `TCP_NODELAY` and the graceful stop are
//! the same for every variant of every case; no difference between two variants hides here.
//!
//! The shell speaks a protocol of one line, which is all that a laboratory needs to know of a
//! server: once it accepts connections it prints `listening on http://127.0.0.1:PORT`.

#[cfg(feature = "count-allocations")]
pub mod allocations;
mod in_process;
#[cfg(feature = "profile")]
pub mod profile;
mod rejection;
mod serve;
mod stop;

#[cfg(all(feature = "count-allocations", feature = "profile-heap"))]
compile_error!("a process has one allocator: it can count allocations or sample them");

use std::{convert::Infallible, net::SocketAddr, process::ExitCode, time::Duration};

use anyhow::Context as _;
use bytes::Bytes;
use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use hyper::{
    Request, Response,
    body::{Body, Incoming},
};
use tokio::net::{TcpListener, TcpSocket};
use tower::Service;

pub use in_process::InProcess;
pub use rejection::explain;
pub use serve::{Limits, serve};
pub use stop::requested as stop_requested;

/// The flags of every case server.
#[derive(Debug, clap::Args)]
pub struct ServerArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    pub addr: SocketAddr,

    /// Seconds after which a request that has no answer yet is answered with 503
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pub request_timeout: u64,

    /// Stop when standard input closes, as it does when the process that started this one dies
    #[arg(long)]
    pub exit_with_parent: bool,
}

/// The options of a case that has none of its own.
#[derive(Debug, clap::Args)]
pub struct NoOptions {}

#[derive(Parser)]
struct Cli<O: clap::Args> {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    case: O,
}

/// Runs a case server: parses the command line, builds the service from the case's own options `O`,
/// serves it until Ctrl-C, SIGTERM or the end of the parent, and reports an error in one line.
///
/// `about` is the first line of `--help`. `service` runs inside the Tokio runtime.
pub fn main<O, S, B>(about: &'static str, service: impl FnOnce(O) -> anyhow::Result<S>) -> ExitCode
where
    O: clap::Args,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let matches = Cli::<O>::command().about(about).get_matches();
    let cli = Cli::<O>::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match run(cli, service) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run<O, S, B>(cli: Cli<O>, service: impl FnOnce(O) -> anyhow::Result<S>) -> anyhow::Result<()>
where
    O: clap::Args,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let runtime = tokio::runtime::Runtime::new().context("cannot start the Tokio runtime")?;
    runtime.block_on(async {
        let service = service(cli.case)?;
        let listener = listen(cli.server.addr).with_context(|| {
            format!("cannot listen on {}; `--addr 127.0.0.1:0` takes a free port", cli.server.addr)
        })?;
        let stop = stop::requested(cli.server.exit_with_parent)?;
        announce(listener.local_addr()?);
        let limits = Limits {
            request: Duration::from_secs(cli.server.request_timeout),
            ..Limits::default()
        };
        serve(listener, service, limits, stop).await;
        Ok(())
    })
}

/// How many connections may wait to be accepted. The usual 128 overflows when thousands of users
/// arrive at once, and an overflow costs each of them a second.
const BACKLOG: u32 = 4096;

fn listen(addr: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As Tokio's own `bind` does: a server that is started again gets its old port back.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    socket.listen(BACKLOG)
}

/// Prints the one line that says where the server can be reached; before it, in a server that
/// counts or is profiled, that it does.
/// A reader that has gone away is no reason not to serve.
fn announce(addr: SocketAddr) {
    use std::io::Write as _;
    let mut stdout = std::io::stdout().lock();
    #[cfg(feature = "count-allocations")]
    let _ = writeln!(stdout, "{}", allocations::ANNOUNCEMENT);
    #[cfg(feature = "profile")]
    let _ = writeln!(stdout, "{}", profile::ANNOUNCEMENT);
    let _ = writeln!(stdout, "listening on http://{addr}").and_then(|()| stdout.flush());
}
