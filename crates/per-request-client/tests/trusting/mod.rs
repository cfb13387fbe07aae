//! The variants in a process whose environment names the site's certificate authority.
//!
//! A process cannot safely change its own environment, so a test runs itself again with the variable
//! set.

use std::{any::type_name, env, fs, process::Command};

use axum::Router;
use per_request_client::{
    Upstream, fixed, slow,
    steps::{no_reuse, shared_connector},
};
use tls_site::Background;

type Routes = fn(Upstream) -> anyhow::Result<Router>;

pub const VARIANTS: [(&str, Routes); 4] = [
    ("slow", slow::routes),
    ("shared-connector", shared_connector::routes),
    ("no-reuse", no_reuse::routes),
    ("fixed", fixed::routes),
];

/// Every variant in front of `upstream`.
pub fn proxies(upstream: &str) -> [(&'static str, Router); 4] {
    let upstream = Upstream { url: upstream.parse().unwrap() };
    VARIANTS.map(|(variant, routes)| (variant, routes(upstream.clone()).unwrap()))
}

/// Runs a test in a process that trusts the site it gets. `test` is a closure in the test's function.
///
/// Its runtime has one thread, so that the order of tasks does not depend on the machine. The site has
/// its own thread.
pub fn trusting<T: AsyncFnOnce(&Background)>(test: T) {
    // Such as `mechanism::the_name_of_the_test::{{closure}}`.
    let name = type_name::<T>().split("::").nth(1).unwrap();
    if env::var("TRUSTING_TEST").as_deref() == Ok(name) {
        let site = Background::start().unwrap();
        fs::write(env::var("SSL_CERT_FILE").unwrap(), site.authority()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test(&site));
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let again = Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env("TRUSTING_TEST", name)
        .env("SSL_CERT_FILE", scratch.path().join("authority.pem"))
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&again.stderr));
    assert!(again.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("1 passed"), "the test did not find itself as {name}: {stdout}");
}
