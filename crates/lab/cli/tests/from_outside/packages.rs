//! The six packages that this workspace is about: each is declared and used.

use std::{path::Path, process::Command};

use crate::toy::json;

#[test]
fn every_package_is_declared_at_the_root_and_a_member_depends_on_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let declared = &manifest.parse::<toml::Table>().unwrap()["workspace"]["dependencies"];
    let cargo = ["metadata", "--no-deps", "--offline", "--format-version=1"];
    let output = Command::new(env!("CARGO")).args(cargo).current_dir(root).output().unwrap();
    let metadata = json(&output);
    let members = metadata["packages"].as_array().unwrap();
    let used = |name: &str| members.iter().any(|it| it["dependencies"].to_string().contains(name));
    for package in ["tokio", "warp", "axum", "hyper", "criterion", "flamegraph"] {
        assert!(declared.get(package).is_some(), "the root Cargo.toml does not declare {package}");
        let name = format!("\"name\":\"{package}\"");
        assert!(used(&name), "no member of the workspace depends on {package}");
    }
}
