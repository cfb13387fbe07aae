//! The six packages that this workspace is about: each is declared and used. What all its members have in common. And
//! what the load generator and the profilers do without.

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::toy::json;

/// The table `workspace` of the root's manifest, and what cargo says about each member.
fn workspace_and_members() -> (toml::Table, Vec<Value>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let cargo = ["metadata", "--no-deps", "--offline", "--format-version=1"];
    let output = Command::new(env!("CARGO")).args(cargo).current_dir(root).output().unwrap();
    let members = json(&output)["packages"].as_array().unwrap().clone();
    (manifest["workspace"].as_table().unwrap().clone(), members)
}

#[test]
fn every_member_has_the_version_and_the_licence_of_the_workspace() {
    let (workspace, members) = workspace_and_members();
    for member in members {
        for name in ["version", "edition", "rust-version", "license"] {
            let own = &member[name.replace('-', "_")];
            let package = &member["name"];
            assert_eq!(own.as_str(), workspace["package"][name].as_str(), "{name} of {package}");
        }
        assert_eq!(member["publish"], serde_json::json!([]), "{}", member["name"]);
    }
}

#[test]
fn every_package_is_declared_at_the_root_and_a_member_depends_on_it() {
    let (workspace, members) = workspace_and_members();
    let declared = &workspace["dependencies"];
    let used = |name: &str| members.iter().any(|it| it["dependencies"].to_string().contains(name));
    for package in ["tokio", "warp", "axum", "hyper", "criterion", "flamegraph"] {
        assert!(declared.get(package).is_some(), "the root Cargo.toml does not declare {package}");
        let name = format!("\"name\":\"{package}\"");
        assert!(used(&name), "no member of the workspace depends on {package}");
    }
}

#[test]
fn what_measures_is_built_without_a_crate_that_shows_results() {
    for package in ["lab-load", "lab-profile", "lab-cases"] {
        let args =
            ["tree", "--offline", "--package", package, "--edges", "normal", "--prefix", "none"];
        let output = Command::new(env!("CARGO"))
            .args(args)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let tree = String::from_utf8(output.stdout).unwrap();
        let names: Vec<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        for below in [package, "lab-protocol", "lab-stats"] {
            assert!(names.contains(&below), "{tree}");
        }
        for shows in ["lab-report", "maud", "textwrap", "console"] {
            assert!(!names.contains(&shows), "{shows} in {tree}");
        }
    }
}
