//! `lab compare --rev`, on a small git repository.

use std::{
    os::unix::fs::PermissionsExt as _,
    process::{Command, Output},
};

use crate::toy::{SHORT, Signal, Toy, ends, fails, says, send, stderr, wait_until};

const COMPARE: [&str; 6] = ["compare", "--bin", "tiny", "--port-arg", "--port", "--get=/"];

/// A repository whose package is below its root, with the revisions `first`, `same` and `other`. The
/// last one has another answer.
pub struct Repository(pub Toy);

impl Repository {
    pub fn new() -> Self {
        let repository = Self(Toy::new(&[]));
        std::fs::create_dir_all(repository.0.path("service/src")).unwrap();
        repository.write(
            "Cargo.toml",
            "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
        );
        repository.write("src/main.rs", include_str!("tiny_server.rs"));
        repository.0.git(&["init", "--quiet"]);
        for (revision, answer) in [("first", "6"), ("same", "6"), ("other", "7")] {
            repository.write("answer.txt", answer);
            repository.0.git(&["add", "service"]);
            repository.0.git(&["commit", "--quiet", "--allow-empty", "--message", revision]);
            repository.0.git(&["tag", revision]);
        }
        repository
    }

    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.path("service").join(file), text).unwrap();
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
        let trees = self.0.path("cache/lab/worktrees").read_dir();
        registered.max(trees.map_or(0, |trees| trees.count()))
    }
}

#[test]
fn revisions_are_built_from_worktrees_and_compared() {
    let repository = Repository::new();
    let output = repository.compare("first", "same");
    fails(&output, 3, "building tiny at first");
    let trees = repository.0.path("cache/lab/worktrees").metadata().unwrap();
    assert_eq!(trees.permissions().mode() & 0o777, 0o700);
    // A second time, both are there.
    let again = repository.compare("first", "same");
    ends(&again, 3);
    assert!(!stderr(&again).contains("building"), "{}", stderr(&again));
    // Other flags make another binary. A bad path ends it before anything starts.
    let mut other = repository.lab("first", "same");
    let other = other.args(["--get=no-slash"]).env("RUSTFLAGS", "-Copt-level=1").output().unwrap();
    says(&other, "building tiny at first");
    says(&other, "must start with /");

    fails(&repository.compare("first", "gone"), 2, "there is no revision `gone`");
    assert_eq!(repository.worktrees(), 0);
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn runs_take_turns_with_the_layouts() {
    let repository = Repository::new();
    let compare = || {
        repository
            .lab("first", "same")
            .args(SHORT)
            .args(["--layouts=2", "--json"])
            .output()
            .unwrap()
    };
    fails(&compare(), 3, "layout 2 of 2");

    let kept = repository.0.path("service/target/lab/revisions");
    let builds = kept.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let build = builds.into_iter().find(|path| path.join("layout-1").is_dir()).unwrap();
    let [one, two] = ["layout-1/tiny", "layout-2/tiny"].map(|name| build.join(name));
    assert_ne!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
    // The first layout starts and answers. If the second one were not run, this would go unnoticed.
    std::fs::write(&two, "not a program").unwrap();
    ends(&compare(), 2);
}

#[test]
fn each_revision_reads_its_own_files() {
    let repository = Repository::new();
    // The working tree has the candidate's files, and they must not decide the baseline's answers.
    let output = repository.compare("first", "other");
    ends(&output, 2);
    let error = stderr(&output);
    assert!(error.contains("the candidate and the baseline answer GET / differently"), "{error}");
}

#[test]
fn worktrees_of_a_killed_lab_are_removed_by_the_next() {
    let repository = Repository::new();
    let mut lab = repository.lab("first", "same").args(["--measurement=60"]).spawn().unwrap();
    wait_until("both worktrees are there", || repository.worktrees() == 2);
    send(Signal::SIGKILL, lab.id());
    lab.wait().unwrap();
    assert_eq!(repository.worktrees(), 2, "a killed process cannot remove them");
    ends(&repository.compare("other", "gone"), 2);
    assert_eq!(repository.worktrees(), 0);
}
