//! The certificate authorities for the proxy's `SSL_CERT_DIR` and `SSL_CERT_FILE`, in the form that Debian
//! gives them: each in a file of its own, a link to that file, and a file with all of them.
//!
//! What loading them costs differs between systems, so these are the same on every machine. Debian 12 has
//! 146 authorities in 220 kB.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use crate::certificate;

/// How many authorities there are, with the site's own.
pub const AUTHORITIES: u16 = 146;

/// The file with all authorities, for the proxy's `SSL_CERT_FILE`.
pub fn file(directory: &Path) -> PathBuf {
    directory.join("ca-certificates.crt")
}

/// Writes `ours`, a PEM, and the made-up authorities into `directory`, which it creates.
pub fn write(directory: &Path, ours: &str) -> anyhow::Result<()> {
    let mut authorities = certificate::made_up(AUTHORITIES - 1)?;
    authorities.push(ours.to_owned());
    keep(directory, &authorities).with_context(|| {
        format!("cannot write to {}; `--authorities DIR` takes another place", directory.display())
    })
}

fn keep(directory: &Path, authorities: &[String]) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    for (number, authority) in authorities.iter().enumerate() {
        let name = format!("authority-{number:03}.pem");
        fs::write(directory.join(&name), authority)?;
        link(&name, &directory.join(format!("{number:08x}.0")))?;
    }
    fs::write(file(directory), authorities.concat())
}

/// The second name of an authority, by which OpenSSL finds it. Loading all of them skips it, but looks at it.
fn link(name: &str, at: &Path) -> std::io::Result<()> {
    // A site that was killed may have left one.
    let _ = fs::remove_file(at);
    #[cfg(unix)]
    std::os::unix::fs::symlink(name, at)?;
    #[cfg(not(unix))]
    let _ = name;
    Ok(())
}
