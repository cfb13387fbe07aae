//! The file that `SSL_CERT_FILE` names for the proxy: the system's certificate authorities and
//! ours, so that the proxy loads as many as it would on this machine anyway, and one more.

use std::{fs, path::Path};

use anyhow::Context as _;
use pem::Pem;

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
    fs::write(path, bundle).with_context(|| {
        format!("cannot write {}; `--ca-bundle PATH` takes another place", path.display())
    })?;
    Ok(system.certs.len())
}
