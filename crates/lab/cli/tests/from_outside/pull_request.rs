//! The script of the GitHub action, with an event like GitHub's.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use crate::{
    revisions::Repository,
    toy::{Toy, ends, fails, stderr},
};

/// The script, which compares a pull request of a repository and writes to `artifacts`.
fn script(toy: &Toy) -> Command {
    let script = "../../../.github/actions/compare/compare.sh";
    let mut script = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
    // Without a pause, the generator would limit the baseline.
    script
        .args(["tiny", "--port-arg=--port", "--get=/", "--think-ms=5"])
        .current_dir(toy.path("service"));
    for (variable, path) in [
        ("GITHUB_EVENT_PATH", "event.json"),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
        ("GITHUB_OUTPUT", "output"),
        ("OUT", "artifacts"),
        ("XDG_CACHE_HOME", "cache"),
    ] {
        script.env(variable, toy.path(path));
    }
    for variable in ["BASE", "HEAD", "FAIL_ON", "GITHUB_RUN_ID"] {
        script.env_remove(variable);
    }
    script
}

fn event(toy: &Toy, base: &str, head: &str) {
    let sha = |revision| toy.git(&["rev-parse", revision]).trim().to_owned();
    let end = |revision| serde_json::json!({ "repo": { "sha": "no" }, "sha": sha(revision) });
    let event = serde_json::json!({ "pull_request": { "base": end(base), "head": end(head) } });
    fs::write(toy.path("event.json"), event.to_string()).unwrap();
}

fn read(toy: &Toy, path: &str) -> String {
    fs::read_to_string(toy.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_slower_pull_request_fails_with_a_comment_and_artifacts() {
    let repository = Repository::new();
    let toy = &repository.0;
    toy.git(&["checkout", "--quiet", "-b", "feature", "same"]);
    let server = include_str!("tiny_server.rs");
    let pause = "std::thread::sleep(std::time::Duration::from_millis(60)); stream.write_all";
    repository.write("src/main.rs", &server.replace("stream.write_all", pause));
    toy.git(&["commit", "--quiet", "--all", "--message", "sleep"]);
    // The base went on to `other` meanwhile, which has other answers. That is not this change.
    event(toy, "other", "feature");

    let lab = env!("CARGO_BIN_EXE_lab");
    toy.program("lab", &format!("#!/bin/sh\nexec {lab} --bin-dir ../target/bin \"$@\"\n"));
    let output = script(toy)
        .env("PATH", toy.path_variable())
        .envs([("MINUTES", "0"), ("FLAME_SECONDS", "1"), ("GITHUB_RUN_ID", "17")])
        .envs([("EFFORT", "--measurement=0.2 --warm-up=0.1")])
        .envs([("GITHUB_SERVER_URL", "https://example.org"), ("GITHUB_REPOSITORY", "me/it")])
        .output()
        .unwrap();
    ends(&output, 1);
    let comment = read(toy, "artifacts/comment.md");
    for part in ["### `lab compare`: slower\n", "| throughput (decides) | 0.", "6 pairs of runs"] {
        assert!(comment.contains(part), "{part}: {comment}");
    }
    assert!(comment.contains("](https://example.org/me/it/actions/runs/17)"), "{comment}");
    assert_eq!(read(toy, "summary.md"), comment);
    assert!(read(toy, "output").starts_with("verdict=slower\ncomment="));
    let record: serde_json::Value =
        serde_json::from_str(&read(toy, "artifacts/record.json")).unwrap();
    assert_eq!(record["cases"][0]["verdict"], "slower");
    assert!(read(toy, "artifacts/report.html").contains("<html"));
    // Not every machine can profile.
    let graph = toy.path("artifacts/flame/diff.svg").is_file();
    assert_eq!(graph, !comment.contains("There is no flame graph"), "{comment}");
}

/// Ends with the exit code $CODE, or $REPORT for a report; 2 comes without a record.
const LAB: &str = r#"#!/bin/sh
[ "$1" = compare ] || exit ${REPORT:-0}
[ "$CODE" != 2 ] || { echo "error: no server" >&2; exit 2; }
echo '{}' > record.json
echo "  Results    record.json"
while [ "$1" != --markdown ]; do shift; done
echo '### `lab compare`: decided' > "$2"
exit "$CODE"
"#;

#[test]
fn you_choose_which_verdicts_fail() {
    let repository = Repository::new();
    let toy = &repository.0;
    toy.program("lab", LAB);
    event(toy, "first", "same");
    let run = |code: &str, fail_on: &str| -> Output {
        script(toy)
            .env("PATH", toy.path_variable())
            .envs([("CODE", code), ("FAIL_ON", fail_on), ("FLAME_SECONDS", "0")])
            .output()
            .unwrap()
    };
    for (fail_on, codes) in [
        ("undecided", [("0", 0), ("1", 1), ("2", 2), ("3", 3), ("101", 2)]),
        ("slower", [("0", 0), ("1", 1), ("2", 2), ("3", 0), ("101", 2)]),
        ("never", [("0", 0), ("1", 0), ("2", 2), ("3", 0), ("101", 2)]),
    ] {
        for (code, expected) in codes {
            let output = run(code, fail_on);
            assert_eq!(output.status.code(), Some(expected), "{fail_on}, {}", stderr(&output));
        }
    }
    run("2", "never");
    let comment = read(toy, "artifacts/comment.md");
    assert!(comment.starts_with("### `lab compare`: error\n"), "{comment}");
    assert!(comment.contains("error: no server"), "{comment}");
}

#[test]
fn a_failure_of_the_script_is_no_verdict() {
    let repository = Repository::new();
    let toy = &repository.0;
    toy.program("lab", LAB);
    event(toy, "first", "same");
    for (variable, value) in [
        ("MINUTES", "0.5"),
        ("FLAME_SECONDS", "soon"),
        ("FAIL_ON", "Slower"),
        ("OUT", "/dev/null/artifacts"),
        // `lab report` fails with 1.
        ("REPORT", "1"),
    ] {
        let output = script(toy)
            .env("PATH", toy.path_variable())
            .envs([("CODE", "0"), ("FLAME_SECONDS", "0"), (variable, value)])
            .output()
            .unwrap();
        ends(&output, 2);
        assert!(read(toy, "output").starts_with("verdict=error\n"), "{variable}={value}");
        fs::remove_file(toy.path("output")).unwrap();
    }
}

#[test]
fn without_a_pull_request_the_script_asks_for_its_ends() {
    let repository = Repository::new();
    fails(&script(&repository.0).output().unwrap(), 2, "set BASE and HEAD");
}
