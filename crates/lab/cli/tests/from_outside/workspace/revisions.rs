//! `lab compare --rev`, on a small git repository.

use std::{
    os::unix::fs::PermissionsExt as _,
    process::{Command, Output},
};

use crate::toy::{SHORT, Toy, ends, fails, prints, says, stderr};

/// It needs no other package, and it answers with the content of `answer.txt` in its directory.
pub const SERVER: &str = include_str!("../../../stand-in/main.rs");

const COMPARE: [&str; 6] = ["compare", "--bin", "tiny", "--port-arg", "--port", "--get=/"];

/// A repository whose package, a server and a bench, is below its root, with the revisions `first`, `same` and `other`. The
/// last one has another answer.
pub struct Repository(pub Toy);

impl Repository {
    pub fn new() -> Self {
        let toy = Toy::new(&[]);
        let manifest = "[package]\nname = \"tiny\"\nedition = \"2024\"\n[workspace]\n\
                        [[bench]]\nname = \"steps\"\nharness = false\n";
        toy.write("service/Cargo.toml", manifest);
        toy.write("service/src/main.rs", SERVER);
        // A step of each revision takes as many nanoseconds as it answers.
        let bench = "fn main() { println!(\"a step {}\", include_str!(\"../answer.txt\")); }";
        toy.write("service/benches/steps.rs", bench);
        toy.git(&["init", "--quiet"]);
        for (revision, answer) in [("first", "6"), ("same", "6"), ("other", "7")] {
            toy.write("service/answer.txt", answer);
            toy.git(&["add", "service"]);
            toy.git(&["commit", "--quiet", "--allow-empty", "--message", revision]);
            toy.git(&["tag", revision]);
        }
        Self(toy)
    }

    /// `lab compare` of two revisions, run where the package is.
    fn lab(&self, baseline: &str, candidate: &str) -> Command {
        let mut lab = self.0.lab(&COMPARE);
        lab.args(["--rev", baseline, "--rev", candidate])
            .current_dir(self.0.path("service"))
            .env("XDG_CACHE_HOME", self.0.path("cache"));
        lab
    }

    fn compare(&self, baseline: &str, candidate: &str) -> Output {
        self.lab(baseline, candidate).args(SHORT).output().unwrap()
    }

    /// How many worktrees there are besides the working tree.
    fn worktrees(&self) -> usize {
        let registered = self.0.git(&["worktree", "list"]).lines().count() - 1;
        registered.max(self.0.files("cache/lab/worktrees").len())
    }
}

#[test]
fn revisions_are_built_from_worktrees_and_compared() {
    let repository = Repository::new();
    fails(&repository.compare("first", "same"), 3, "building tiny at first");
    assert_eq!(repository.worktrees(), 0);
    let trees = repository.0.path("cache/lab/worktrees").metadata().unwrap();
    assert_eq!(trees.permissions().mode() & 0o777, 0o700);
    // A killed `lab` leaves its worktrees, and the next one removes them. It finds both binaries.
    let left = repository.0.path("cache/lab/worktrees/left").display().to_string();
    repository.0.git(&["worktree", "add", "--quiet", "--detach", &left]);
    let again = repository.compare("first", "same");
    ends(&again, 3);
    assert_eq!(repository.worktrees(), 0);
    assert!(!stderr(&again).contains("building"), "{}", stderr(&again));
    // Other flags make another binary. A bad path ends it before anything starts.
    let mut other = repository.lab("first", "same");
    let other = other.args(["--get=no-slash"]).env("RUSTFLAGS", "-Copt-level=1").output().unwrap();
    says(&other, "building tiny at first");
    says(&other, "must start with /");
    fails(&repository.compare("first", "gone"), 2, "there is no revision `gone`");
    // The working tree has the candidate's files, and they must not decide the baseline's answers.
    let error = "the candidate and the baseline answer GET / differently";
    fails(&repository.compare("first", "other"), 2, error);
    assert_eq!(repository.worktrees(), 0);
}

#[test]
fn a_bench_of_each_revision_is_built_and_run() {
    let repository = Repository::new();
    let compare = |more: &[&str]| {
        let mut lab = repository.0.lab(&["compare", "--rev=first", "--rev=other"]);
        lab.args(more).current_dir(repository.0.path("service"));
        lab.env("XDG_CACHE_HOME", repository.0.path("cache")).output().unwrap()
    };
    let output = compare(&["--bench", "steps", "--quick"]);
    fails(&output, 1, "building steps at other");
    prints(&output, "candidate is slower: time 1.17× as high (1.17–1.17)");
    fails(&compare(&["--bench", "stairs"]), 2, "no bench is named `stairs`; did you mean `steps`?");
    fails(&compare(&[]), 2, "--rev needs --bin NAME, the server to build, or --bench NAME");
    assert_eq!(repository.worktrees(), 0);
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn runs_take_turns_with_the_layouts() {
    let repository = Repository::new();
    let compare =
        || repository.lab("first", "same").args(SHORT).arg("--layouts=2").output().unwrap();
    fails(&compare(), 3, "layout 2 of 2");

    let kept = repository.0.path("service/target/lab/revisions");
    let mut builds = kept.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let build = builds.next().unwrap().join("target/release");
    let [one, two] = ["tiny-layout-1", "tiny-layout-2"].map(|name| build.join(name));
    assert_ne!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
    // The first layout starts and answers. If the second one were not run, this would go unnoticed.
    std::fs::write(&two, "not a program").unwrap();
    ends(&compare(), 2);
}
