//! `lab record` from outside: what a record is made of, and what is refused.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::toy::{Toy, stderr};

/// A toy workspace under version control, with pictures and figures of Criterion, but without a run.
struct Archive(Toy);

impl Archive {
    fn new() -> Self {
        let archive = Self(Toy::new(&[]));
        archive.write(".gitignore", "/target\n/pids\n/crates/toy/case.toml\n");
        archive.write("Cargo.lock", "[[package]]\nname = \"criterion\"\nversion = \"0.8.2\"\n");
        archive.git(&["init", "--quiet"]);
        archive.commit("first");
        archive.draw("toy");
        let groups = [("alternatives-toy", "borrow", None), ("sweep-toy", "slow", Some("10"))];
        for (age, (group, name, parameter)) in groups.into_iter().enumerate() {
            archive.bench(group, name, parameter, 40.0, -(age as i64));
        }
        archive
    }

    /// As [`Archive::new`], with a run of two pairs.
    fn measured() -> Self {
        let archive = Self::new();
        let output = archive.0.bench(&[]);
        assert!(output.status.success(), "{}", stderr(&output));
        archive
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.0.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn git(&self, args: &[&str]) -> String {
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        // Before the figures of Criterion were measured, but for one that is said to be older.
        let committed = SystemTime::now() - Duration::from_secs(80 * 60);
        let committed = committed.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let git = Command::new("git")
            .args(author)
            .args(args)
            .env("GIT_COMMITTER_DATE", format!("@{committed} +0000"))
            .current_dir(self.0.path("."))
            .output();
        let git = git.unwrap();
        assert!(git.status.success(), "{}", stderr(&git));
        String::from_utf8(git.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// The pictures of a case, made from what is checked out.
    fn draw(&self, case: &str) {
        let build = json!({ "rustc": null, "profile": "profiling", "dirty": false,
                            "commit": self.git(&["rev-parse", "HEAD"]) });
        let meta = json!({ "command": ["/home/me/lab", "flame"], "build": build });
        for (name, content) in [
            ("meta.json", meta.to_string().as_str()),
            ("index.html", "a page"),
            ("slow.svg", "a picture"),
            ("slow.raw.svg", "all of it"),
            ("slow.folded", "all;of;it 1"),
            ("slow.per-request.folded", "of;it 1"),
        ] {
            self.write(&format!("target/lab/flame/{case}/{name}"), content);
        }
    }

    /// A figure of Criterion, measured so many minutes from now.
    fn bench(&self, group: &str, name: &str, parameter: Option<&str>, ns: f64, minutes: i64) {
        let dir = ["target/criterion", group, name].into_iter().chain(parameter);
        let dir = dir.collect::<Vec<_>>().join("/");
        let id = json!({ "group_id": group, "function_id": name, "value_str": parameter });
        let interval =
            json!({ "confidence_level": 0.95, "lower_bound": ns - 1.0, "upper_bound": ns + 1.0 });
        let median = json!({ "point_estimate": ns, "confidence_interval": interval });
        self.write(&format!("{dir}/new/benchmark.json"), &id.to_string());
        self.write(&format!("{dir}/base/estimates.json"), "of another run");
        let estimates = format!("{dir}/new/estimates.json");
        self.write(&estimates, &json!({ "median": median }).to_string());
        let age = Duration::from_secs(minutes.unsigned_abs() * 60);
        let now = SystemTime::now();
        let at = if minutes < 0 { now - age } else { now + age };
        fs::File::options()
            .write(true)
            .open(self.0.path(&estimates))
            .unwrap()
            .set_modified(at)
            .unwrap();
    }

    fn record(&self, args: &[&str]) -> Output {
        let pairs: &[&str] = if args.contains(&"--pairs") { &[] } else { &["--pairs", "2"] };
        self.0.lab(&[&["record"], pairs, args].concat()).output().unwrap()
    }

    /// The names of what `docs/record` holds.
    fn records(&self) -> Vec<String> {
        files(&self.0.path("docs/record"))
    }

    /// Says why nothing was published.
    fn refusal(&self, args: &[&str]) -> String {
        let output = self.record(args);
        assert_eq!(output.status.code(), Some(1));
        assert!(self.records().is_empty(), "{:?}", self.records());
        stderr(&output)
    }

    /// The one record that there is.
    fn published(&self) -> PathBuf {
        let records = self.records();
        assert_eq!(records.len(), 1, "{records:?}");
        self.0.path("docs/record").join(&records[0])
    }
}

fn files(dir: &Path) -> Vec<String> {
    let Ok(entries) = dir.read_dir() else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_record_has_the_run_the_figures_of_criterion_and_the_pictures() {
    let archive = Archive::measured();
    archive.bench("alternatives-toy", "clone", None, 90.0, -30);
    archive.bench("hot-toy", "slow", None, 1.0, 0);
    let output = archive.record(&["--name", "two-cores"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let dir = archive.published();
    assert!(dir.to_str().unwrap().ends_with("-two-cores"), "{}", dir.display());
    assert_eq!(files(&dir), ["benches.json", "flame", "record.json"]);
    assert_eq!(files(&dir.join("flame")), ["toy"]);
    let pictures = ["meta.json", "slow.per-request.folded", "slow.svg"];
    assert_eq!(files(&dir.join("flame/toy")), pictures, "no raw graphs");

    let run = json(&dir.join("record.json"));
    assert_eq!(run["cases"][0]["case"], "toy");
    assert_eq!(run["command"][0], "lab", "the paths of this machine are nobody's business");
    assert_eq!(json(&dir.join("flame/toy/meta.json"))["command"][0], "lab");

    let benches = json(&dir.join("benches.json"));
    assert_eq!((&benches["criterion"], &benches["estimate"]), (&json!("0.8.2"), &json!("median")));
    assert!(benches["made"].as_str().unwrap().starts_with("cargo bench"), "{benches}");
    // In the order in which they were measured, and nothing of other groups.
    let bench = |group: &str, name: &str, parameter: Option<&str>, ns: f64| {
        json!({ "group": group, "name": name, "parameter": parameter,
                "ns": ns, "low_ns": ns - 1.0, "high_ns": ns + 1.0 })
    };
    let expected = [
        bench("alternatives-toy", "clone", None, 90.0),
        bench("sweep-toy", "slow", Some("10"), 40.0),
        bench("alternatives-toy", "borrow", None, 40.0),
    ];
    assert_eq!(benches["benches"], json!(expected));
}

#[test]
fn without_a_run_nothing_is_published() {
    let archive = Archive::new();
    let refusal = archive.refusal(&["--force"]);
    assert!(refusal.contains("there are no runs yet; `just record` makes"), "{refusal}");
}

#[test]
fn a_quick_or_small_run_is_refused_unless_forced() {
    let archive = Archive::new();
    assert!(archive.0.bench(&["--quick"]).status.success());
    let refusal = archive.refusal(&["--pairs", "3"]);
    assert!(refusal.contains("was a quick look"), "{refusal}");
    assert!(refusal.contains("has 2 pairs of toy and not 3"), "{refusal}");
    let forced = archive.record(&["--force"]);
    assert!(forced.status.success());
    assert!(stderr(&forced).contains("note: the newest run"), "{}", stderr(&forced));
    assert_eq!(json(&archive.published().join("record.json"))["quick"], true);
}

#[test]
fn a_quick_run_does_not_hide_the_whole_one_before_it() {
    let archive = Archive::measured();
    let whole = json(&archive.0.results()[0]);
    assert!(archive.0.bench(&["--quick"]).status.success());
    let output = archive.record(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(json(&archive.published().join("record.json"))["created"], whole["created"]);
}

#[test]
fn a_case_without_a_run_or_pictures_or_figures_is_named() {
    let archive = Archive::measured();
    let case = fs::read_to_string(archive.0.path("crates/toy/case.toml")).unwrap();
    archive.write("crates/tin/case.toml", &case);
    archive.write(".gitignore", "*\n");
    archive.commit("one more case");
    let refusal = archive.refusal(&[]);
    for what in ["has no tin", "no pictures of tin", "no figures of alternatives-tin", "sweep-tin"]
    {
        assert!(refusal.contains(what), "{what} is not in {refusal}");
    }
}

#[test]
fn results_of_another_tree_are_refused() {
    let archive = Archive::measured();
    archive.write("new.rs", "");
    let refusal = archive.refusal(&[]);
    assert!(refusal.contains("the tree holds changes that no commit has"), "{refusal}");

    archive.commit("second");
    let refusal = archive.refusal(&[]);
    assert!(refusal.contains("the run was made from "), "{refusal}");
    assert!(refusal.contains("the page of toy was made from "), "{refusal}");
    assert!(!refusal.contains("the tree holds"), "{refusal}");
    assert!(archive.record(&["--force"]).status.success());
}

#[test]
fn figures_of_criterion_from_another_call_are_refused() {
    let archive = Archive::measured();
    archive.bench("sweep-toy", "renamed", None, 1.0, -70);
    let refusal = archive.refusal(&[]);
    assert!(refusal.contains("sweep-toy/renamed is of an earlier call"), "{refusal}");
    assert!(!refusal.contains("sweep-toy/slow"), "{refusal}");
}

#[test]
fn figures_of_criterion_from_before_the_commit_are_refused() {
    let archive = Archive::measured();
    archive.bench("sweep-toy", "renamed", None, 1.0, -85);
    archive.bench("sweep-toy", "slow", Some("10"), 1.0, -30);
    archive.bench("alternatives-toy", "borrow", None, 1.0, -31);
    let refusal = archive.refusal(&[]);
    assert!(refusal.contains("sweep-toy/renamed is of an earlier call"), "{refusal}");

    archive.bench("sweep-toy", "slow", Some("10"), 1.0, -83);
    archive.bench("alternatives-toy", "borrow", None, 1.0, -84);
    let refusal = archive.refusal(&[]);
    assert!(refusal.contains("figures are older than the commit"), "{refusal}");
}

#[test]
fn a_record_is_not_replaced_without_being_asked() {
    let archive = Archive::measured();
    assert!(archive.record(&[]).status.success());
    archive.write(".gitignore", "*\n");
    let first = archive.published();
    fs::write(first.join("a-note"), "").unwrap();
    let again = archive.record(&["--force"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("`--replace` puts this record"), "{}", stderr(&again));
    assert!(first.join("a-note").exists());
    assert!(archive.record(&["--force", "--replace"]).status.success());
    assert!(!archive.published().join("a-note").exists());
}

#[test]
fn what_breaks_off_leaves_nothing_behind() {
    let archive = Archive::measured();
    // A directory where a file is expected: it cannot be copied.
    let odd = archive.0.path("target/lab/flame/toy/odd.svg");
    fs::create_dir_all(odd).unwrap();
    let refusal = archive.refusal(&[]);
    assert!(refusal.contains("odd.svg"), "{refusal}");
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    let archive = Archive::new();
    let output = archive.record(&["--name", "../elsewhere"]);
    assert!(stderr(&output).contains("letters, digits and hyphens"), "{}", stderr(&output));
}
