//! The six packages that this workspace is about: each is declared and used.

use std::{collections::BTreeSet, path::Path, process::Command};

use crate::toy::{json, stderr};

const PACKAGES: [&str; 6] = ["tokio", "warp", "axum", "hyper", "criterion", "flamegraph"];

#[test]
fn every_package_is_declared_at_the_root_and_a_member_depends_on_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let declared = manifest["workspace"]["dependencies"].as_table().unwrap();

    let cargo = ["metadata", "--no-deps", "--offline", "--format-version=1"];
    let output = Command::new(env!("CARGO")).args(cargo).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let metadata = json(&output);
    let members = metadata["packages"].as_array().unwrap().iter();
    let used = members.flat_map(|member| member["dependencies"].as_array().unwrap());
    let used: BTreeSet<_> = used.map(|dependency| dependency["name"].as_str().unwrap()).collect();

    for package in PACKAGES {
        assert!(declared.contains_key(package), "the root Cargo.toml does not declare {package}");
        assert!(used.contains(package), "no member of the workspace depends on {package}");
    }
}
