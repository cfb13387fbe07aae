//! Names the commit in `lab --version` where the build is of a commit: in a release, and by `cargo install --git`. In a
//! work tree, it would change with each commit and build `lab` again.

#![expect(clippy::disallowed_macros, reason = "cargo reads what a build script prints")]

use std::{env, path::Path};

fn main() {
    println!("cargo::rerun-if-env-changed=LAB_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = env::var("LAB_COMMIT").ok().or_else(checkout);
    let commit = commit.unwrap_or_else(|| "work tree".to_owned());
    println!("cargo::rustc-env=LAB_VERSION={version} ({commit})");
}

/// The commit in the path of cargo's own checkout: `…/git/checkouts/NAME-HASH/COMMIT/crates/lab/cli`.
fn checkout() -> Option<String> {
    let here = env::var("CARGO_MANIFEST_DIR").ok()?;
    let mut parts = Path::new(&here).iter().skip_while(|part| *part != "checkouts").skip(2);
    Some(parts.next()?.to_str()?.to_owned())
}
