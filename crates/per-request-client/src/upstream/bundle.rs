//! The file that `SSL_CERT_FILE` names for the proxy, so that it loads as many certificate
//! authorities as it would in production, and ours besides.
//!
//! A service with neither variable set loads a file and a directory where the system has both, as
//! Debian has. With `SSL_CERT_FILE` alone a service loads nothing but that file, which is several
//! times cheaper. So the proxy gets [`DIRECTORY`] as its `SSL_CERT_DIR` too. On Debian the system's
//! file lies within the directory, and the directory gives both. It gives the file once in either
//! case, because rustls-native-certs skips a file that it has read already. So ours stands alone
//! here: a copy of the system's beside it would be another file, and be read a second time.

use std::{fs, path::Path};

use anyhow::Context as _;
use pem::Pem;

use super::certificate;

/// Where most systems keep their authorities, one file each. Where it is missing, nothing is loaded
/// from it, and nothing fails.
pub const DIRECTORY: &str = "/etc/ssl/certs";

/// Writes `ours`, a PEM, to `path`, for a proxy that loads this file and `directory`. Where the
/// directory gives no authorities, as on macOS, the system's stand before ours.
///
/// Returns how many of the system's authorities such a proxy loads, each counted once. A machine
/// without any is no error: the proxy then trusts nothing but this upstream.
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
