//! Serves the site, and says how to start a proxy in front of it.

use std::{
    io::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Parser as _;
use tls_site::{Server, bundle};

/// tls-site: one page of 19 resources over HTTPS, and a count of connections
#[derive(clap::Parser)]
#[command(
    after_help = "It prints how to start a proxy in front of it, and a request for the number of connections."
)]
struct Options {
    /// Address to listen on, on the loopback; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    addr: SocketAddr,

    /// Directory for the certificate authorities that the proxy loads: the site's own, and 145 made-up
    /// ones [default: a temporary directory, removed at the end]
    #[arg(long, value_name = "DIR")]
    authorities: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the Tokio runtime")?;
    runtime.block_on(async {
        let server = Server::bind(options.addr)?;
        let stop = case_server::stop_requested()?;
        let authorities = Authorities::new(options.authorities);
        // Before the announcement, so that a proxy that starts then can load them.
        bundle::write(&authorities.directory, server.authority())?;
        announce(&server.url()?, &authorities.directory);
        server.run(Box::pin(stop)).await;
        Ok(())
    })
}

/// The directory for the proxy's `SSL_CERT_DIR`. A temporary one is removed at the end.
struct Authorities {
    directory: PathBuf,
    temporary: bool,
}

impl Authorities {
    fn new(directory: Option<PathBuf>) -> Self {
        let temporary = directory.is_none();
        let directory = directory.unwrap_or_else(|| {
            std::env::temp_dir().join(format!("tls-site-{}", std::process::id()))
        });
        Self { directory, temporary }
    }
}

impl Drop for Authorities {
    fn drop(&mut self) {
        if self.temporary {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

/// Prints where the site listens, for the laboratory, and how to use it, for a person. The server runs
/// on if nobody reads this.
fn announce(url: &str, directory: &Path) {
    let (file, directory) = (bundle::file(directory), directory.display());
    let file = file.display();
    let plain = url.replacen("https", "http", 1);
    let text = format!(
        "listening on {url}\n\
         \n\
         A proxy in front of it, in another terminal:\n\
         SSL_CERT_FILE={file} SSL_CERT_DIR={directory} \
         cargo run --release --bin per-request-client-slow -- --upstream {url}\n\
         \n\
         The number of connections so far:\n\
         curl {plain}/counters\n"
    );
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
