//! The file that `SSL_CERT_FILE` names for the proxy: the system's certificate authorities and
//! ours.
//!
//! A service without that variable loads a file and a directory where the system has both, as
//! Debian has. With it alone a service loads nothing but the file, which is several times cheaper.
//! So the proxy gets [`DIRECTORY`] as its `SSL_CERT_DIR` too, and loads as much as it would anyway.

use std::{fs, path::Path};

use anyhow::Context as _;
use pem::Pem;

use super::certificate;

/// Where most systems keep their authorities, one file each. Where it is missing, nothing is loaded
/// from it, and nothing fails.
pub const DIRECTORY: &str = "/etc/ssl/certs";

/// Writes the system's authorities and `ours`, a PEM, to `path`. Returns how many are the system's.
///
/// A machine without any is no error: the proxy then trusts nothing but this upstream.
pub fn write(path: &Path, ours: &str) -> anyhow::Result<usize> {
    let system = rustls_native_certs::load_native_certs();
    let mut bundle: String = system
        .certs
        .iter()
        .map(|certificate| pem::encode(&Pem::new("CERTIFICATE", certificate.as_ref())))
        .collect();
    bundle.push_str(ours);
    keep(path, &bundle)?;
    Ok(system.certs.len())
}

/// Writes `others` authorities that nobody else knows, and `ours`, a PEM, to `path`: the same
/// number on every machine, for those who count what loading them costs.
pub fn write_made_up(path: &Path, others: u16, ours: &str) -> anyhow::Result<()> {
    keep(path, &(certificate::made_up(others)? + ours))
}

fn keep(path: &Path, bundle: &str) -> anyhow::Result<()> {
    fs::write(path, bundle).with_context(|| {
        format!("cannot write {}; `--ca-bundle PATH` takes another place", path.display())
    })
}
