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
struct Options {
    /// Address to listen on, on the loopback; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    addr: SocketAddr,

    /// Where to write the certificate authority that the proxy must trust, besides those in
    /// /etc/ssl/certs [default: a temporary file, removed at the end]
    #[arg(long, value_name = "PATH")]
    ca_bundle: Option<PathBuf>,

    /// Write this many made-up authorities there as well, so that loading them costs the same on every
    /// machine
    #[arg(long, value_name = "N")]
    made_up_authorities: Option<u16>,
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
        let bundle = Bundle::new(options.ca_bundle);
        // Before the announcement, so that a proxy that starts then can load the bundle.
        let (path, ours) = (&bundle.path, server.authority());
        if let Some(others) = options.made_up_authorities {
            bundle::write_made_up(path, others, ours)?;
        } else if bundle::write(path, bundle::DIRECTORY, ours)? == 0 {
            eprintln!(
                "note: this machine has no certificate authorities, so the proxy loads only one, \
                 which costs next to nothing"
            );
        }
        announce(&server.url()?, path);
        server.run(Box::pin(stop)).await;
        Ok(())
    })
}

/// The file for the proxy's `SSL_CERT_FILE`. A temporary one is removed at the end.
struct Bundle {
    path: PathBuf,
    temporary: bool,
}

impl Bundle {
    fn new(path: Option<PathBuf>) -> Self {
        let temporary = path.is_none();
        let path = path.unwrap_or_else(|| {
            std::env::temp_dir().join(format!("tls-site-{}.pem", std::process::id()))
        });
        Self { path, temporary }
    }
}

impl Drop for Bundle {
    fn drop(&mut self) {
        if self.temporary {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Prints where the site listens, for the laboratory, and how to use it, for a person. The server runs
/// on if nobody reads this.
fn announce(url: &str, bundle: &Path) {
    let (bundle, directory) = (bundle.display(), bundle::DIRECTORY);
    let plain = url.replacen("https", "http", 1);
    let text = format!(
        "listening on {url}\n\
         \n\
         A proxy in front of it, in another terminal:\n\
         SSL_CERT_FILE={bundle} SSL_CERT_DIR={directory} \
         cargo run --release --bin per-request-client-slow -- --upstream {url}\n\
         \n\
         The number of connections so far:\n\
         curl {plain}/counters\n"
    );
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
