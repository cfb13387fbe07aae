//! Benches of a proxy in front of a real HTTPS site, with real sockets.
//!
//! A proxy loads its certificate authorities from `SSL_CERT_FILE` and `SSL_CERT_DIR`. A process cannot
//! safely change its own environment. So this one starts the site, writes the files, and runs itself
//! again with the variables set.

use std::{
    env,
    process::{Command, ExitCode},
};

use anyhow::Context as _;
use axum::Router;
use criterion::Criterion;
use per_request_client::Upstream;
use tls_site::{Background, bundle};

/// Set for the second process: the URL of the site.
const UPSTREAM: &str = "PER_REQUEST_CLIENT_UPSTREAM";

/// Makes a variant's routes.
pub type Routes = fn(Upstream) -> anyhow::Result<Router>;

/// A proxy in front of the site. Only benches that [`run`] calls can use it.
///
/// # Panics
///
/// If there is no site, or no certificate authority.
pub fn proxy(routes: Routes) -> Router {
    let url = env::var(UPSTREAM).expect("the first process has set it");
    let upstream = Upstream { url: url.parse().expect("the URL is valid") };
    routes(upstream).expect("there are certificate authorities")
}

/// Runs `benches` in a second process, in front of the site of the case.
///
/// # Errors
///
/// If there is no site, or no second process.
pub fn run(benches: impl FnOnce()) -> anyhow::Result<ExitCode> {
    let start = || {
        let site = Background::start()?;
        let (url, authority) = (site.url().to_owned(), site.authority().to_owned());
        Ok((site, url, authority))
    };
    run_before(start, benches)
}

/// [`run`], in front of what `start` starts. `start` returns the site, which lives as long as the second
/// process, its URL, and the authority to trust as PEM.
///
/// # Errors
///
/// If there is no site, or no second process.
pub fn run_before<U>(
    start: impl FnOnce() -> anyhow::Result<(U, String, String)>,
    benches: impl FnOnce(),
) -> anyhow::Result<ExitCode> {
    if env::var_os(UPSTREAM).is_some() {
        benches();
        Criterion::default().configure_from_args().final_summary();
        return Ok(ExitCode::SUCCESS);
    }
    let (_site, url, authority) = start()?;
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    bundle::write(scratch.path(), &authority)?;
    let again = Command::new(env::current_exe()?)
        .args(env::args_os().skip(1))
        .env(UPSTREAM, url)
        .env("SSL_CERT_FILE", bundle::file(scratch.path()))
        .env("SSL_CERT_DIR", scratch.path())
        .status()
        .context("cannot run the bench again")?;
    Ok(if again.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
