//! Servers are where cargo says that it put them, whatever its settings, and never what was built before.

use std::process::Command;

use crate::{
    toy::{Toy, ends, lab, prints, stdout},
    workspace::revisions::SERVER,
};

/// A workspace with a case that cargo builds.
fn workspace() -> Toy {
    let toy = Toy::new(&[]);
    toy.write("Cargo.toml", "[workspace]\nresolver = \"2\"\nmembers = [\"crates/toy\"]\n");
    let bin = |name: &str| format!("[[bin]]\nname = \"toy-{name}\"\npath = \"main.rs\"\n");
    let package = "[package]\nname = \"toy\"\nedition = \"2024\"\n";
    let manifest = [package, &bin("slow"), &bin("fixed")].concat();
    toy.write("crates/toy/Cargo.toml", &manifest);
    toy
}

fn host() -> String {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let text = stdout(&rustc);
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

#[test]
fn what_is_measured_is_what_cargo_has_just_built_whatever_its_settings() {
    let toy = workspace();
    let host = host();
    let host = host.as_str();
    let target = format!("target = \"{host}\"\n");
    let elsewhere = "target-dir = \"elsewhere\"\n";
    let both = format!("{target}{elsewhere}");
    for (variable, config) in [
        (("LANG", "C.UTF-8"), ""),
        (("CARGO_BUILD_TARGET", host), ""),
        (("CARGO_TARGET_DIR", "third"), ""),
        (("CARGO_BUILD_TARGET_DIR", "fourth"), ""),
        (("CARGO_BUILD_BUILD_DIR", "between"), ""),
        (("LANG", "C.UTF-8"), &target),
        (("LANG", "C.UTF-8"), elsewhere),
        (("CARGO_BUILD_TARGET", host), &both),
    ] {
        toy.write(".cargo/config.toml", &format!("[build]\n{config}"));
        let verify = |answer: &str| {
            let source = SERVER.replace("\"6\".to_owned()", &format!("\"{answer}\".to_owned()"));
            toy.write("crates/toy/main.rs", &source);
            let mut lab = lab();
            lab.env_remove("CARGO_TARGET_DIR").env(variable.0, variable.1);
            lab.args(["verify", "toy"]).current_dir(toy.path(".")).output().unwrap()
        };
        let (right, wrong) = (verify("6"), verify("8"));
        ends(&right, 0);
        ends(&wrong, 1);
        prints(&wrong, "toy-fixed is wrong");
    }
}
