//! The shell around every case's server, so that a case crate has nothing but its lesson.
//!
//! A variant's binary is one call of [`main!`]. Flags, the announcement, timeouts, `TCP_NODELAY` and the
//! graceful stop are the same for every variant of every case, unless the lesson is how connections are accepted.
//!
//! Once a server accepts connections it prints `listening on http://127.0.0.1:PORT`. That line is all
//! that the laboratory needs. On a terminal, a request to try follows it.

mod erased;
mod hint;
#[cfg(feature = "axum")]
mod own_serve;
#[cfg(feature = "warp")]
mod rejection;
mod serve;
mod stop;

use std::{
    io::{Write as _, stderr, stdout},
    net::SocketAddr,
    pin::Pin,
    process::ExitCode,
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, Command, FromArgMatches as _, error::ErrorKind};
use hyper::body::Incoming;
use tokio::{
    net::{TcpListener, TcpSocket},
    runtime::{Builder, Runtime},
};

pub use erased::{Erased, InProcess, Variant};
pub use hint::About;
#[cfg(feature = "axum")]
pub use own_serve::main_with_own_serve;
#[cfg(feature = "warp")]
pub use rejection::explain;
pub use serve::{Limits, Stop, serve};
pub use stop::requested as stop_requested;

/// The flags of every case server.
#[derive(Debug, clap::Args)]
struct Flags {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    addr: SocketAddr,

    /// Seconds after which a request without an answer gets a 503
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    request_timeout: u64,
}

/// The options of a case that has none of its own.
#[derive(Debug, clap::Args)]
pub struct NoOptions {}

/// A variant's binary: a closure from the case's own options to the service that it serves. See
/// [`main()`], whose `about` is the binary's name, and its package's description and case file. `workers = N` in
/// front of the closure sets the number of Tokio's workers, for a case whose lesson depends on it. `serve = F` there is
/// the function that accepts connections, for a case whose lesson is that.
#[macro_export]
macro_rules! main {
    (workers = $workers:expr, $service:expr) => {
        $crate::main!(@ about, $crate::main(about, Some($workers), $service));
    };
    (serve = $serve:expr, $service:expr) => {
        $crate::main!(@ about, $crate::main_with_own_serve(about, $service, $serve));
    };
    (@ $about:ident, $run:expr) => {
        fn main() -> std::process::ExitCode {
            let $about = $crate::About {
                bin: env!("CARGO_BIN_NAME"),
                description: env!("CARGO_PKG_DESCRIPTION"),
                case: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/case.toml")),
                dir: env!("CARGO_MANIFEST_DIR"),
            };
            $run
        }
    };
    ($service:expr) => {
        $crate::main!(@ about, $crate::main(about, None, $service));
    };
}

/// Runs a case server: parses the command line, builds the service from the case's own options `O`,
/// serves it until Ctrl-C or SIGTERM, and reports an error in one line.
///
/// `about` has the first line of `--help`, and what to try. `workers` is the number of Tokio's workers, unless
/// `TOKIO_WORKER_THREADS` sets another; without both, there is one per core. `service` runs inside the
/// runtime.
pub fn main<O, S>(
    about: About,
    workers: Option<usize>,
    service: impl FnOnce(O) -> anyhow::Result<S>,
) -> ExitCode
where
    O: Args,
    S: Variant<Incoming>,
{
    let (flags, options) = parsed(about);
    let start = || {
        let service = Erased::new(service(options)?);
        let run: Run = Box::new(|listener, limits, stop| {
            Box::pin(async move {
                serve(listener, service, limits, stop).await;
                Ok(())
            })
        });
        Ok(run)
    };
    run(about, &flags, workers, Box::new(start))
}

/// The flags of every server, and the case's own options.
fn parsed<O: Args>(about: About) -> (Flags, O) {
    let matches = command::<O>(about).try_get_matches().unwrap_or_else(|error| stop(about, &error));
    let flags = Flags::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let options = O::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    (flags, options)
}

/// Serves a listener until the stop.
type Run = Box<
    dyn FnOnce(TcpListener, Limits, Stop) -> Pin<Box<dyn Future<Output = std::io::Result<()>>>>,
>;
/// Makes the service, inside the runtime.
type Start<'a> = Box<dyn FnOnce() -> anyhow::Result<Run> + 'a>;

/// Ends with clap's message, and with what to try or to start first. A server that runs doesn't read its case file for
/// that.
fn stop(about: About, error: &clap::Error) -> ! {
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp => {
            let hints = about.needs().into_iter().chain([about.try_it("http://127.0.0.1:PORT")]);
            hints.for_each(|hint| drop(write!(stdout(), "\n{hint}")));
        }
        ErrorKind::MissingRequiredArgument => {
            about.needs().iter().for_each(|hint| drop(write!(stderr(), "\n{hint}")));
        }
        _ => {}
    }
    std::process::exit(error.exit_code())
}

fn command<O: Args>(about: About) -> Command {
    let command = O::augment_args(Flags::augment_args(Command::new("case-server")));
    let about = format!("{}: {}", about.bin, about.description);
    // Last, since the doc comments of the options set these too.
    command.about(about.clone()).long_about(about)
}

/// What [`main`] does after parsing, without type parameters, so that this crate compiles it and not
/// each binary.
fn run(about: About, flags: &Flags, workers: Option<usize>, start: Start<'_>) -> ExitCode {
    match runtime(workers)
        .and_then(|runtime| runtime.block_on(listen_and_serve(about, flags, start)))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A runtime, or the end of the process. Tokio panics if the system refuses it a thread, and then waits for those
/// that it has.
fn runtime(workers: Option<usize>) -> anyhow::Result<Runtime> {
    std::panic::set_hook(Box::new(|panic| {
        let why = panic.payload_as_str().unwrap_or("it panicked");
        eprintln!("error: cannot start the Tokio runtime: {why}");
        std::process::exit(1);
    }));
    let mut builder = Builder::new_multi_thread();
    // The environment wins, so that readers can try other numbers, and `lab` can count with one worker.
    if std::env::var_os("TOKIO_WORKER_THREADS").is_none() {
        workers.map(|workers| builder.worker_threads(workers));
    }
    let runtime = builder.enable_all().build().context("cannot start the Tokio runtime");
    drop(std::panic::take_hook());
    runtime
}

async fn listen_and_serve(about: About, flags: &Flags, start: Start<'_>) -> anyhow::Result<()> {
    let run = start()?;
    let listener = listen(flags.addr).with_context(|| {
        format!("cannot listen on {}; `--addr 127.0.0.1:0` takes a free port", flags.addr)
    })?;
    let stop = stop_requested()?;
    announce(about, listener.local_addr()?);
    let limits =
        Limits { request: Duration::from_secs(flags.request_timeout), ..Limits::default() };
    run(listener, limits, Box::pin(stop)).await.context("cannot go on serving")
}

/// How many connections may wait to be accepted. The usual 128 overflows when thousands of users
/// arrive at once, and an overflow costs each of them a second.
const BACKLOG: u32 = 4096;

fn listen(addr: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As Tokio's own `bind` does: a server that restarts gets its old port back.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    socket.listen(BACKLOG)
}

/// Says what is instrumented, and where the server listens; to a person, also what to try. The laboratory reads from a
/// pipe, so a server that is measured does nothing for that. The server runs on if nobody reads this.
fn announce(about: About, addr: SocketAddr) {
    use std::io::{IsTerminal as _, Write as _};
    let mut stdout = std::io::stdout().lock();
    for instrument in case_probe::ANNOUNCEMENTS {
        let _ = writeln!(stdout, "{instrument}");
    }
    let _ = writeln!(stdout, "listening on http://{addr}").and_then(|()| stdout.flush());
    if stdout.is_terminal() {
        let _ = write!(stdout, "\n{}", about.try_it(&format!("http://{addr}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_sets_the_workers_unless_the_environment_does() {
        let set = std::env::var("TOKIO_WORKER_THREADS").ok().and_then(|set| set.parse().ok());
        let workers = runtime(Some(3)).unwrap().metrics().num_workers();
        assert_eq!(workers, set.unwrap_or(3));
    }

    #[test]
    fn help_begins_with_what_the_server_does() {
        let about = About { bin: "toy-slow", description: "It waits", case: "", dir: "" };
        let mut command = command::<NoOptions>(about);
        for help in [command.render_help(), command.render_long_help()] {
            let help = help.to_string();
            assert!(help.starts_with("toy-slow: It waits\n\nUsage:"), "{help}");
            assert!(help.contains("--request-timeout"), "{help}");
        }
    }
}
