//! `lab bisect`, on small git repositories whose benches print a time that their commit or their crates decide.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::json;

use crate::toy::{self, Signal, Toy, ends, fails, interrupt, prints, says, stderr};

const MANIFEST: &str = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
                        [[bench]]\nname = \"steps\"\nharness = false\n";
/// A step takes so many nanoseconds as the file says.
const BENCH: &str = "fn main() { println!(\"a step {}\", include_str!(\"../step.txt\")); }";

/// A repository whose commits have these steps, with the tags `good` and `bad` at its ends.
struct SteppedRepository(Toy);

impl SteppedRepository {
    fn new(steps: &[&str]) -> Self {
        let toy = Toy::new(&[]);
        toy.write("service/Cargo.toml", MANIFEST);
        toy.write("service/src/lib.rs", "");
        toy.write("service/benches/steps.rs", BENCH);
        toy.write("service/.gitignore", "target\n");
        toy.git(&["init", "--quiet"]);
        let repository = Self(toy);
        for (nth, step) in steps.iter().enumerate() {
            repository.0.write("service/step.txt", step);
            repository.commit(&format!("Change {nth}"));
            if nth == 0 {
                repository.0.git(&["tag", "good"]);
            }
        }
        repository.0.git(&["tag", "bad"]);
        repository
    }

    fn commit(&self, subject: &str) {
        self.0.git(&["add", "service"]);
        self.0.git(&["commit", "--quiet", "--allow-empty", "--message", subject]);
    }

    fn lab(&self, args: &[&str]) -> Command {
        let mut lab = self.0.lab(&["bisect"]);
        lab.args(args).current_dir(self.0.path("service"));
        lab.env("XDG_CACHE_HOME", self.0.path("cache"));
        lab
    }

    fn bisect(&self, more: &[&str]) -> Output {
        let args = ["--rev=good", "--rev=bad", "--bench", "steps"];
        self.lab(&[&args[..], more].concat()).output().unwrap()
    }

    fn journals(&self) -> usize {
        self.0.files("service/target/lab/bisect").len()
    }
}

#[test]
fn the_commit_that_made_a_bench_slower_is_found_in_few_builds() {
    let repository =
        SteppedRepository::new(&["10", "10", "10", "10", "12", "12", "12", "12", "12"]);
    let output = repository.bisect(&[]);
    prints(&output, "it is slower: 1.20× (1.20–1.20).");
    prints(&output, "Change 4");
    prints(&output, "one of 8 commits, found by looking at 3 states.");
    ends(&output, 0);
    says(&output, "like good  Change 2");
    assert_eq!(
        (repository.journals(), repository.0.git(&["worktree", "list"]).lines().count()),
        (0, 1)
    );
    let output = repository.bisect(&["--json"]);
    let found = &toy::json(&output)["searches"][0];
    assert_eq!(
        (&found["suspects"][0]["subject"], &found["is_confirmed"]),
        (&"Change 4".into(), &true.into())
    );
    let output =
        repository.lab(&["--rev=bad~4", "--rev=bad", "--bench", "steps"]).output().unwrap();
    ends(&output, 3);
    prints(&output, "pairs of runs show no difference between bad~4 and bad");
}

#[test]
fn the_commit_that_made_a_bench_faster_is_found_in_the_same_way() {
    let repository = SteppedRepository::new(&["12", "12", "10", "10"]);
    let output = repository.bisect(&[]);
    prints(&output, "it is faster: 1.20× (1.20–1.20).");
    prints(&output, "Change 2");
    fails(&output, 0, "bad is faster than good: about 1.20×");
}

/// The older of two changes came in by a merge.
#[test]
fn a_good_revision_that_came_in_by_a_merge_is_an_error() {
    let repository = SteppedRepository::new(&["10", "10"]);
    let git = |args: &[&str]| repository.0.git(args);
    git(&["checkout", "--quiet", "-b", "release", "good"]);
    repository.0.write("service/src/lib.rs", "// released");
    repository.commit("Release");
    git(&["tag", "released"]);
    git(&["checkout", "--quiet", "-"]);
    git(&["merge", "--quiet", "--no-ff", "--no-edit", "released"]);
    git(&["tag", "--force", "bad"]);
    let args = ["--rev=released", "--rev=bad", "--bench", "steps"];
    fails(
        &repository.lab(&args).output().unwrap(),
        2,
        "`released` came in by a merge: begin before that",
    );
}

#[test]
fn states_that_cannot_be_built_or_have_no_time_are_left_out() {
    let repository = SteppedRepository::new(&["10", "10", "10", "no number", "20"]);
    let output = repository.bisect(&[]);
    fails(&output, 3, "skipped: ");
    prints(&output, "bad is slower by about 2.00×. Of 4 commits, one of these did it: ");
    let names =
        ["bad~1", "bad"].map(|revision| repository.0.git(&["rev-parse", "--short=10", revision]));
    prints(&output, &format!("{} and {}.", names[0].trim(), names[1].trim()));
}

#[test]
fn a_search_that_was_interrupted_goes_on() {
    let repository = SteppedRepository::new(&["10"; 9]);
    // Slow enough for a signal: the time is that of the sleep.
    let bench = "fn main() { std::thread::sleep(std::time::Duration::from_millis(50)); \
                 println!(\"a step {}\", include_str!(\"../step.txt\").trim().parse::<f64>().unwrap()); }";
    repository.0.write("service/benches/steps.rs", bench);
    repository.commit("Sleep");
    repository.0.git(&["tag", "--force", "good"]);
    for step in ["10", "10.0", "20", "20.0"] {
        repository.0.write("service/step.txt", step);
        repository.commit(&format!("Step {step}"));
    }
    repository.0.git(&["tag", "--force", "bad"]);
    let args = ["--rev=good", "--rev=bad", "--bench", "steps"];
    let is_decided = |_| {
        repository.journals() == 1 && {
            let files = repository.0.files("service/target/lab/bisect");
            repository
                .0
                .read(&format!("service/target/lab/bisect/{}", files[0]))
                .contains("\"last\"")
                || repository
                    .0
                    .read(&format!("service/target/lab/bisect/{}", files[0]))
                    .contains("\"first\"")
        }
    };
    let output = interrupt(&mut repository.lab(&args), Signal::SIGINT, is_decided);
    fails(&output, 130, "the same command goes on");
    assert_eq!(repository.0.git(&["worktree", "list"]).lines().count(), 1);
    let output = repository.bisect(&[]);
    // The states of both calls.
    prints(&output, "Step 20 That is one of 4 commits, found by looking at 2 states.");
    ends(&output, 0);
    assert!(!stderr(&output).contains("measuring good and bad"), "{}", stderr(&output));
    assert_eq!(repository.journals(), 0);
}

#[test]
fn what_cannot_be_searched_is_an_error_before_anything_is_built() {
    let repository = SteppedRepository::new(&["10", "20"]);
    let error = |args: &[&str], message: &str| {
        let output = repository.lab(args).output().unwrap();
        fails(&output, 2, message);
        assert!(!stderr(&output).contains("building"), "{}", stderr(&output));
    };
    let bench = ["--bench", "steps"];
    error(&[&["--rev=good"][..], &bench].concat(), "give --rev twice");
    error(&[&["--rev=bad", "--rev=good"][..], &bench].concat(), "`good` isn't based on `bad`");
    error(&[&["--rev=bad", "--rev=bad"][..], &bench].concat(), "are the same commit");
    error(&[&["--rev=good", "--rev=gone"][..], &bench].concat(), "there is no revision `gone`");
    error(&["--rev=good", "--rev=bad"], "--bin <NAME>");
    error(
        &[&["--rev=good", "--rev=bad", "--metric=cpu"][..], &bench].concat(),
        "cannot be used with",
    );
    error(&[&["--rev=good", "--rev=bad", "--users=2"][..], &bench].concat(), "cannot be used with");
    error(
        &[&["--rev=good", "--rev=bad", "--lock"][..], &bench].concat(),
        "`good` has no service/Cargo.lock\n",
    );
}

/// Crates of a local registry, each of which exports a step.
struct Registry<'a>(&'a SteppedRepository);

impl Registry<'_> {
    /// `needs`: another crate, and its only version that fits.
    fn add(&self, name: &str, version: &str, step: u32, needs: Option<[&str; 2]>) {
        let SteppedRepository(toy) = self.0;
        let stem = format!("{name}-{version}");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n[dependencies]\n"
        );
        let needed = needs.map(|[name, version]| format!("{name} = \"={version}\"\n"));
        toy.write(&format!("sources/{stem}/Cargo.toml"), &(manifest + &needed.unwrap_or_default()));
        toy.write(&format!("sources/{stem}/src/lib.rs"), &format!("pub const STEP: u32 = {step};"));
        let archive = toy.path(&format!("registry/{stem}.crate"));
        toy.write("registry/index/config.json", "{}");
        let tar = ["-C", &toy.path("sources").display().to_string(), "-czf"].map(str::to_owned);
        let packed = Command::new("tar").args(tar).arg(&archive).arg(&stem).status().unwrap();
        assert!(packed.success());
        let sum = Command::new("sha256sum").arg(&archive).output().unwrap();
        let sum = String::from_utf8_lossy(&sum.stdout).split(' ').next().unwrap().to_owned();
        let deps: Vec<_> = needs.iter().map(|[name, version]| {
            json!({ "name": name, "req": format!("={version}"), "features": [], "optional": false,
                    "default_features": true, "target": null, "kind": "normal" })
        }).collect();
        let entry = json!({ "name": name, "vers": version, "deps": deps, "cksum": sum, "features": {}, "yanked": false });
        let index = format!("registry/index/3/{}/{name}", &name[..1]);
        let before = std::fs::read_to_string(toy.path(&index)).unwrap_or_default();
        toy.write(&index, &format!("{before}{entry}\n"));
    }

    fn cargo_home(&self) -> PathBuf {
        self.0.0.path("cargo-home")
    }

    /// Locks these versions.
    fn lock(&self, versions: &[(&str, &str)]) {
        for (name, version) in versions {
            let mut cargo = Command::new("cargo");
            cargo.args(["update", "--offline", "--quiet", "--package", name, "--precise", version]);
            cargo.current_dir(self.0.0.path("service")).env("CARGO_HOME", self.cargo_home());
            let done = cargo.output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn of_a_commit_that_touches_only_the_lock_file_the_crate_is_found() {
    let repository = SteppedRepository::new(&["10"]);
    let registry = Registry(&repository);
    let names = ["ant", "bee", "cow", "dog", "eel"];
    for name in names {
        let is_guilty = name == "cow";
        registry.add(name, "1.0.0", 10, None);
        registry.add(name, "1.1.0", if is_guilty { 30 } else { 10 }, None);
    }
    // It only fits its own version of a neighbour, so both move together.
    registry.add("fly", "1.0.0", 0, Some(["ant", "1.0.0"]));
    registry.add("fly", "1.1.0", 0, Some(["ant", "1.1.0"]));
    let toy = &repository.0;
    let dir = toy.path("registry");
    let replaced = "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nlocal-registry = ";
    toy.write("service/.cargo/config.toml", &format!("{replaced}{:?}\n", Path::new(&dir)));
    let needs: String =
        names.iter().chain(&["fly"]).map(|name| format!("{name} = \"1\"\n")).collect();
    toy.write("service/Cargo.toml", &format!("{MANIFEST}[dependencies]\n{needs}"));
    let sum: Vec<_> = names.iter().map(|name| format!("{name}::STEP")).collect();
    let bench = format!("fn main() {{ println!(\"a step {{}}\", {}); }}", sum.join(" + "));
    toy.write("service/benches/steps.rs", &bench);
    let of = |version: &'static str| names.map(|name| (name, version));
    registry.lock(&[("fly", "1.0.0")]);
    registry.lock(&of("1.0.0")[1..]);
    repository.commit("Need crates");
    toy.git(&["tag", "--force", "good"]);
    registry.lock(&[("fly", "1.1.0")]);
    registry.lock(&of("1.1.0")[1..]);
    repository.commit("Update");
    toy.git(&["tag", "--force", "bad"]);

    let bisect = |more: &[&str]| {
        let args = ["--rev=good", "--rev=bad", "--bench", "steps"];
        let mut lab = repository.lab(&[&args[..], more].concat());
        lab.env("CARGO_HOME", registry.cargo_home()).output().unwrap()
    };
    let output = bisect(&[]);
    prints(&output, "Since cow 1.0.0 → 1.1.0, it is slower: 1.40× (1.40–1.40).");
    prints(&output, "one of 5 groups of crates");
    fails(&output, 0, "this commit touches only Cargo.lock");
    let output = bisect(&["--lock"]);
    prints(&output, "Since cow 1.0.0 → 1.1.0");
    ends(&output, 0);
    assert_eq!(
        toy.git(&["status", "--porcelain", "--", "service"]),
        "",
        "your checkout is as it was"
    );
}

/// Its answer takes as long as the file says.
const SERVER: &str = r#"use std::io::{Read, Write};

fn main() {
    let port = std::env::args().nth(1).unwrap();
    let pause: u64 = include_str!("../step.txt").trim().parse().unwrap();
    for stream in std::net::TcpListener::bind(format!("127.0.0.1:{port}")).unwrap().incoming() {
        let mut stream = stream.unwrap();
        std::thread::spawn(move || {
            let mut request = [0; 4096];
            while stream.read(&mut request).is_ok_and(|read| read > 0) {
                std::thread::sleep(std::time::Duration::from_millis(pause));
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
                if stream.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
        });
    }
}"#;

#[test]
fn the_commit_that_made_a_server_slower_is_found() {
    let repository = SteppedRepository::new(&["1"]);
    repository.0.write("service/src/main.rs", SERVER);
    repository.commit("Serve");
    repository.0.git(&["tag", "--force", "good"]);
    for (step, subject) in [("1 ", "Nothing"), ("20", "Wait longer"), ("20 ", "Nothing more")] {
        repository.0.write("service/step.txt", step);
        repository.commit(subject);
    }
    repository.0.git(&["tag", "--force", "bad"]);
    let args = ["--rev=good", "--rev=bad", "--bin", "tiny", "--get=/", "--users=2", "--", "{port}"];
    let output = repository.lab(&args).output().unwrap();
    prints(&output, "Wait longer That is one of 3 commits");
    ends(&output, 0);
    // The comparison that confirms it is a record like any other.
    prints(&output, "req/s");
    assert_eq!(repository.0.files("service/target/lab/runs").len(), 1);
}
