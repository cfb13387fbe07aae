//! The file for the proxy's `SSL_CERT_FILE`. With it the proxy loads as many certificate authorities as
//! in production, and the site's own.
//!
//! On Debian, a service without `SSL_CERT_FILE` and `SSL_CERT_DIR` loads a file and the directory around
//! it. With `SSL_CERT_FILE` alone it loads that file only, which is several times cheaper. So the proxy
//! gets [`DIRECTORY`] as its `SSL_CERT_DIR`, which contains the system's file. This file then has only
//! the site's own authority: a copy of the system's authorities would be loaded a second time.

use std::{fs, path::Path};

use anyhow::Context as _;
use pem::Pem;

use crate::certificate;

/// Where most systems keep their authorities, one file each. It may be missing.
pub const DIRECTORY: &str = "/etc/ssl/certs";

/// Writes `ours`, a PEM, to `path`, for a proxy that loads this file and `directory`. If the directory
/// has no authorities, as on macOS, the file gets the system's too.
///
/// Returns how many of the system's authorities such a proxy loads, each counted once. Zero is no
/// error: the proxy then trusts this site only.
pub fn write(path: &Path, directory: impl AsRef<Path>, ours: &str) -> anyhow::Result<usize> {
    let mut system =
        rustls_native_certs::load_certs_from_paths(None, Some(directory.as_ref())).certs;
    let mut bundle = String::new();
    if system.is_empty() {
        system = rustls_native_certs::load_native_certs().certs;
        let pem = |certificate: &[u8]| pem::encode(&Pem::new("CERTIFICATE", certificate));
        bundle.extend(system.iter().map(|certificate| pem(certificate)));
    }
    bundle.push_str(ours);
    keep(path, &bundle)?;
    Ok(system.len())
}

/// Writes `others` made-up authorities and `ours`, a PEM, to `path`, so that loading them costs the same
/// on every machine.
pub fn write_made_up(path: &Path, others: u16, ours: &str) -> anyhow::Result<()> {
    keep(path, &(certificate::made_up(others)? + ours))
}

fn keep(path: &Path, bundle: &str) -> anyhow::Result<()> {
    fs::write(path, bundle).with_context(|| {
        format!("cannot write {}; `--ca-bundle PATH` takes another place", path.display())
    })
}
