//! `lab compare --rev` builds and runs a revision as cargo would in a checkout of it, and leaves yours alone.

use std::{
    fs,
    process::{Command, Output},
};

use crate::{
    toy::{SHORT, Toy, ends, fails, prints, says, stderr},
    workspace::revisions::SERVER,
};

/// Reads all that a bench finds at run time. What each of them has is in `answer.txt`.
const BENCH: &str = r#"
use std::{env, fs, path::Path, process::Command};

fn main() {
    let show = |name: &str, text: String| println!("{name} {}", text.trim());
    let tool = Command::new(env!("CARGO_BIN_EXE_tool")).output().unwrap().stdout;
    show("program", String::from_utf8(tool).unwrap());
    show("generated", fs::read_to_string(concat!(env!("OUT_DIR"), "/answer.txt")).unwrap());
    show("library", engine::answer().to_string());
    show("directory", fs::read_to_string("answer.txt").unwrap());
    let package = env::var("CARGO_MANIFEST_DIR").unwrap();
    show("package", fs::read_to_string(Path::new(&package).join("answer.txt")).unwrap());
    assert_eq!(env::var("FROM_CONFIG").unwrap(), "yes");
    assert_eq!(env::var("CARGO_PKG_NAME").unwrap(), "service");
}
"#;
const FOUND: [&str; 5] = ["program", "generated", "library", "directory", "package"];

/// Fails where it gets a variable that names another repository.
const BUILD: &str = r#"
fn main() {
    for name in env!("LOCAL").split(',') {
        assert!(std::env::var_os(name).is_none(), "{name}");
    }
    let out = std::env::var("OUT_DIR").unwrap();
    std::fs::copy("answer.txt", format!("{out}/answer.txt")).unwrap();
    println!("cargo::rerun-if-changed=answer.txt");
}
"#;

const SERVICE: &str = r#"
[package]
name = "service"
edition = "2021"
[features]
internals = []
[dependencies]
engine = { path = "../engine" }
[[bench]]
name = "found"
harness = false
[[bench]]
name = "inner"
harness = false
required-features = ["internals"]
"#;
const ENGINE: &str = r#"
[package]
name = "engine"
edition = "2021"
[lib]
crate-type = ["dylib"]
"#;
const CONFIG: &str = r#"
[build]
rustflags = ["-C", "prefer-dynamic"]
[env]
FROM_CONFIG = "yes"
"#;

/// `lab` in a directory of a toy's repository.
fn lab(toy: &Toy, dir: &str, args: &[&str]) -> Command {
    let mut lab = toy.lab(args);
    lab.current_dir(toy.path(dir)).env("XDG_CACHE_HOME", toy.path("cache"));
    lab
}

fn local_variables() -> Vec<String> {
    let git = Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap();
    String::from_utf8(git.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// A workspace in `repository`, whose commits `six` and `seven` answer so.
fn workspace() -> Toy {
    let toy = Toy::new(&[]);
    let write = |path: &str, text: &str| toy.write(&format!("repository/{path}"), text);
    write("Cargo.toml", "[workspace]\nresolver = \"2\"\nmembers = [\"service\", \"engine\"]\n");
    write(".gitignore", "target\nCargo.lock\n");
    write(".cargo/config.toml", CONFIG);
    write("engine/Cargo.toml", ENGINE);
    let engine = "pub fn answer() -> &'static str { include_str!(\"../../service/answer.txt\") }";
    write("engine/src/lib.rs", engine);
    write("service/Cargo.toml", SERVICE);
    let local = format!("{:?}", local_variables().join(","));
    write("service/build.rs", &BUILD.replace("env!(\"LOCAL\")", &local));
    write("service/src/bin/tiny.rs", SERVER);
    let front = "use std::os::unix::process::CommandExt;\nfn main() {\n\
                 let it = std::env::current_exe().unwrap().with_file_name(\"tiny\");\n\
                 panic!(\"{}\", std::process::Command::new(it).args(std::env::args_os().skip(1)).exec());\n}";
    write("service/src/bin/front.rs", front);
    write("service/src/bin/tool.rs", "fn main() { println!(include_str!(\"../../answer.txt\")); }");
    write("service/benches/found.rs", BENCH);
    write("service/benches/inner.rs", "fn main() { println!(\"inner 6\"); }");
    git(&toy, "repository", &["init", "--quiet"]);
    for (revision, answer) in [("six", "6"), ("seven", "7")] {
        write("service/answer.txt", answer);
        git(&toy, "repository", &["add", "--all"]);
        git(&toy, "repository", &["commit", "--quiet", "--message", revision]);
        git(&toy, "repository", &["tag", revision]);
    }
    toy
}

fn git(toy: &Toy, dir: &str, args: &[&str]) -> String {
    let dir = toy.path(dir).display().to_string();
    toy.git(&[&["-C", &dir], args].concat())
}

const COMPARE: [&str; 5] = ["compare", "--bench", "found", "--quick", "-v"];

fn ensure_each_differs(output: &Output) {
    ends(output, 1);
    for name in FOUND {
        prints(output, &format!("{name} "));
    }
    let slower = String::from_utf8_lossy(&output.stdout).matches("0.86×").count();
    assert!(slower >= FOUND.len(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_bench_finds_what_its_own_build_and_checkout_have() {
    let toy = workspace();
    let compare = |revisions: [&str; 2]| {
        let mut lab = lab(&toy, "repository/service/src", &COMPARE);
        lab.args(["--rev", revisions[0], "--rev", revisions[1]]).output().unwrap()
    };
    let first = compare(["six", "seven"]);
    ensure_each_differs(&first);
    says(&first, "building found at seven");
    // The kept builds, in the other order.
    let again = compare(["seven", "six"]);
    ends(&again, 0);
    assert!(!stderr(&again).contains("building found"), "{}", stderr(&again));
    ensure_each_differs(&compare(["six", "seven"]));
    // Another repository's variables change nothing: not for git, cargo, a build script or the bench.
    let mut poisoned = lab(&toy, "repository/service", &COMPARE);
    poisoned.envs(local_variables().iter().map(|name| (name, "/nonexistent")));
    ensure_each_differs(&poisoned.args(["--rev=six", "--rev=seven"]).output().unwrap());
}

#[test]
fn a_runner_of_cargos_settings_is_named_because_it_is_not_used() {
    let toy = workspace();
    let config = "[target.'cfg(unix)']\nrunner = \"/nonexistent/runner\"\n";
    toy.write("repository/.cargo/config.toml", &format!("{CONFIG}{config}"));
    git(&toy, "repository", &["commit", "--quiet", "--all", "--message=runner"]);
    let args = ["compare", "--bench=found", "--quick", "--rev=HEAD", "--rev=HEAD"];
    let output = lab(&toy, "repository/service", &args).output().unwrap();
    ends(&output, 0);
    let note = "cargo would run it by `/nonexistent/runner`, as `target.cfg(unix).runner` says";
    assert_eq!(stderr(&output).matches(note).count(), 1, "{}", stderr(&output));
}

fn six_with_itself(toy: &Toy, args: &[&str]) -> Output {
    let mut lab = lab(toy, "repository", &["compare", "--rev=six", "--rev=six"]);
    lab.args(args).output().unwrap()
}

#[test]
fn features_are_passed_to_cargo() {
    let toy = workspace();
    let hint = "as in --bench 'inner --features internals'";
    fails(&six_with_itself(&toy, &["--bench", "inner", "--quick"]), 2, hint);
    ends(&six_with_itself(&toy, &["--bench", "inner --features internals", "--quick"]), 0);
}

#[test]
fn a_server_finds_the_programs_of_its_package() {
    let toy = workspace();
    let server = ["--bin", "front", "--port-arg", "--port", "--get=/"];
    ends(&six_with_itself(&toy, &[&server[..], &SHORT[..]].concat()), 3);
}

#[test]
fn a_commit_has_what_was_staged_whichever_hook_compares() {
    let toy = workspace();
    let lab = env!("CARGO_BIN_EXE_lab");
    let log = toy.path("log").display().to_string();
    let hook = format!(
        "#!/bin/sh\nXDG_CACHE_HOME={} {lab} compare --bench 'found' --rev six --rev seven --quick >/dev/null 2>{log}.err\n\
         echo \"$(basename $0) $?\" >>{log}\n",
        toy.path("cache").display()
    );
    let hooks = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];
    git(&toy, "repository", &["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    // A worktree on a disk that isn't there: git would forget it in a `worktree prune`.
    git(&toy, "repository", &["worktree", "add", "--quiet", "-b", "away", "../away"]);
    fs::rename(toy.path("away"), toy.path("unmounted")).unwrap();
    for name in hooks {
        toy.program(&format!("repository/.git/hooks/{name}"), &hook);
    }
    for dir in ["repository", "linked"] {
        for (at, args) in [&["--message=a"][..], &["--all", "--message=b"]].iter().enumerate() {
            toy.write(&format!("{dir}/service/src/new{at}.rs"), "// my change\n");
            git(&toy, dir, &["add", "service/src"]);
            git(&toy, dir, &[&["commit", "--quiet"], *args].concat());
            let committed = git(&toy, dir, &["show", "--name-only", "--format=", "HEAD"]);
            assert_eq!(committed, format!("service/src/new{at}.rs\n"), "{dir}");
            assert_eq!(git(&toy, dir, &["status", "--porcelain"]), "", "{dir}");
            let ran = hooks.map(|name| format!("{name} 1\n")).concat();
            assert_eq!(toy.read("log"), ran, "{dir}: {}", toy.read("log.err"));
            fs::remove_file(toy.path("log")).unwrap();
        }
    }
    fs::rename(toy.path("unmounted"), toy.path("away")).unwrap();
    assert_eq!(git(&toy, "away", &["status", "--porcelain"]), "");
}

#[test]
fn a_worktree_has_submodules_neighbours_and_no_hooks() {
    let toy = Toy::new(&[]);
    let library = |path: &str, text: &str| {
        let name = path.rsplit('/').next().unwrap();
        let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2021\"\n");
        toy.write(&format!("{path}/Cargo.toml"), &manifest);
        toy.write(&format!("{path}/src/lib.rs"), text);
    };
    library("near", "pub fn answer() -> u8 { 6 }");
    library("origin/deep", "pub fn answer() -> u8 { 6 }");
    library("origin/inside", "pub fn answer() -> u8 { deep::answer() }");
    let manifest = toy.read("origin/inside/Cargo.toml");
    let depends = format!("{manifest}[dependencies]\ndeep = {{ path = \"deep\" }}\n");
    toy.write("origin/inside/Cargo.toml", &depends);
    let submodule = ["-c", "protocol.file.allow=always", "submodule", "--quiet"];
    let origin = |name: &str| toy.path(&format!("origin/{name}")).display().to_string();
    // A submodule with a submodule.
    for name in ["deep", "inside"] {
        let dir = format!("origin/{name}");
        git(&toy, &dir, &["init", "--quiet"]);
        if name == "inside" {
            git(&toy, &dir, &[&submodule[..], &["add", &origin("deep"), "deep"]].concat());
        }
        git(&toy, &dir, &["add", "--all"]);
        git(&toy, &dir, &["commit", "--quiet", "--message=a"]);
    }
    let manifest = "[package]\nname = \"tiny\"\nedition = \"2021\"\n[workspace]\nexclude = [\"vendor\"]\n\
                    [dependencies]\nnear = { path = \"../near\" }\ninside = { path = \"vendor/inside\" }\n\
                    [[bench]]\nname = \"steps\"\nharness = false\n";
    toy.write("mine/Cargo.toml", manifest);
    toy.write("mine/.gitignore", "target\nCargo.lock\n");
    toy.write("mine/src/lib.rs", "");
    let bench =
        "fn main() { println!(\"near {}\\ninside {}\", near::answer(), inside::answer()); }";
    toy.write("mine/benches/steps.rs", bench);
    git(&toy, "mine", &["init", "--quiet"]);
    git(&toy, "mine", &[&submodule[..], &["add", &origin("inside"), "vendor/inside"]].concat());
    git(&toy, "mine", &[&submodule[..], &["update", "--init", "--recursive"]].concat());
    git(&toy, "mine", &["add", "--all"]);
    git(&toy, "mine", &["commit", "--quiet", "--message=a"]);
    toy.program("mine/.git/hooks/post-checkout", "#!/bin/sh\nexit 1\n");
    // There is no network.
    fs::remove_dir_all(toy.path("origin")).unwrap();
    let compare = || {
        let args = ["compare", "--bench=steps", "--rev=HEAD", "--rev=HEAD", "--quick", "-v"];
        lab(&toy, "mine", &args).output().unwrap()
    };
    let clean = compare();
    ends(&clean, 0);
    prints(&clean, "near");
    let are_filled = |it: &Output| !stderr(it).contains("stays empty");
    assert!(!stderr(&clean).contains("uncommitted") && are_filled(&clean), "{}", stderr(&clean));
    // Your checkout has none of them now, but git still has their commits. The build is new.
    git(&toy, "mine", &["submodule", "--quiet", "deinit", "--all", "--force"]);
    fs::remove_dir_all(toy.path("mine/target")).unwrap();
    let kept = compare();
    ends(&kept, 0);
    assert!(are_filled(&kept), "{}", stderr(&kept));
    says(&kept, "building steps at HEAD");
    toy.write("mine/src/lib.rs", "// changed");
    toy.write("mine/src/new.rs", "");
    // As young as before, and it is seen.
    let file = toy.path("near/src/lib.rs");
    let time = file.metadata().unwrap().modified().unwrap();
    toy.write("near/src/lib.rs", "pub fn answer() -> u8 { 9 }");
    fs::File::open(&file).unwrap().set_modified(time).unwrap();
    let dirty = compare();
    ends(&dirty, 0);
    says(&dirty, "2 uncommitted files are in no revision");
    says(&dirty, "building steps at HEAD");
    assert_eq!(git(&toy, "mine", &["worktree", "list"]).lines().count(), 1);
}
