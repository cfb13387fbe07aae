//! A process whose environment names the upstream's certificate authority.
//!
//! The variants find the authorities as any service does: where the system keeps them, or where
//! `SSL_CERT_FILE` says. A process cannot safely change its own environment, so a test runs itself
//! again, with the variable set.

use std::{env, fs, process::Command};

use per_request_client::upstream::Background;

/// Runs `test` in a process of its own, which trusts the upstream that it is given.
///
/// `name` is the test's own name: it is how the second process finds it. There the runtime has one
/// thread, so that tasks take turns in an order that does not depend on the machine; the upstream
/// has its own.
pub fn trusting(name: &str, test: impl AsyncFnOnce(&Background)) {
    if env::var("TRUSTING_TEST").as_deref() == Ok(name) {
        let upstream = Background::start().unwrap();
        fs::write(env::var("SSL_CERT_FILE").unwrap(), upstream.authority()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test(&upstream));
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
