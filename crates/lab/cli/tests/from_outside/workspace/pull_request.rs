//! The script of the GitHub action, with an event like GitHub's.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    toy::{Toy, fails, needs_python},
    workspace::revisions::{Repository, SERVER},
};

/// A repository, and the event of a pull request.
fn requested(base: &str, head: &str) -> Toy {
    let Repository(toy) = Repository::new();
    toy.git(&["checkout", "--quiet", "-b", "feature", "same"]);
    let pause = "std::thread::sleep(Duration::from_millis(60));\n        stream.write_all";
    toy.write("service/src/main.rs", &SERVER.replace("stream.write_all", pause));
    toy.git(&["commit", "--quiet", "--all", "--message", "sleep"]);
    let end =
        |name| json!({ "repo": { "sha": "no" }, "sha": toy.git(&["rev-parse", name]).trim() });
    let event = json!({ "pull_request": { "base": end(base), "head": end(head) } });
    toy.write("event.json", &event.to_string());
    toy
}

/// Puts `lab` where a shell finds it.
fn install(toy: &Toy) {
    let lab = env!("CARGO_BIN_EXE_lab");
    toy.program("programs/lab", &format!("#!/bin/sh\nexec {lab} --bin-dir ../target/bin \"$@\"\n"));
}

/// The script, which compares a pull request of a repository and writes to `artifacts`.
fn script(toy: &Toy, variables: &[(&str, &str)]) -> Command {
    // Without a pause, the generator would limit the baseline.
    script_with(toy, &["tiny", "--port-arg=--port", "--get=/", "--think-ms=5"], variables)
}

fn script_with(toy: &Toy, args: &[&str], variables: &[(&str, &str)]) -> Command {
    let script = "../../../.github/actions/compare/compare.sh";
    let mut script = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
    script.args(args).current_dir(toy.path("service")).env("PATH", toy.path_variable());
    for (variable, path) in [
        ("GITHUB_EVENT_PATH", "event.json"),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
        ("GITHUB_OUTPUT", "output"),
        ("OUT", "artifacts"),
        ("XDG_CACHE_HOME", "cache"),
    ] {
        script.env(variable, toy.path(path));
    }
    for variable in ["BASE", "HEAD", "BENCH", "FAIL_ON", "GITHUB_RUN_ID"] {
        script.env_remove(variable);
    }
    script.envs(variables.iter().copied());
    script
}

#[test]
fn a_slower_pull_request_fails_with_a_comment_and_artifacts_with_python() {
    needs_python();
    // The base went on to `other` meanwhile, which has other answers. That is not this change.
    let toy = requested("other", "feature");
    install(&toy);
    let mut script = script(
        &toy,
        &[
            ("MINUTES", "1"),
            ("FLAME_SECONDS", "1"),
            ("EFFORT", "--measurement=0.2 --warm-up=0.1"),
            ("GITHUB_RUN_ID", "17"),
            ("GITHUB_SERVER_URL", "https://example.org"),
            ("GITHUB_REPOSITORY", "me/it"),
        ],
    );
    fails(&script.output().unwrap(), 1, "");
    let comment = toy.read("artifacts/comment.md");
    for part in [
        "### `lab compare`: slower\n",
        "× lower throughput (",
        "| throughput (decides) | ",
        "× worse (",
        "6 pairs of runs",
        "](https://example.org/me/it/actions/runs/17)",
    ] {
        assert!(comment.contains(part), "{part}: {comment}");
    }
    assert_eq!(toy.read("summary.md"), comment);
    assert!(toy.read("output").starts_with("verdict=slower\ncomment="));
    let record: Value = serde_json::from_str(&toy.read("artifacts/record.json")).unwrap();
    assert_eq!(record["cases"][0]["verdict"], "slower");
    assert!(toy.read("artifacts/report.html").contains("<html"));
    // Not every machine can profile.
    let graph = toy.path("artifacts/flame/diff.svg").is_file();
    assert_eq!(graph, !comment.contains("There is no flame graph"), "{comment}");
}

/// Ends with the exit code $CODE, or $REPORT for a report; 2 comes without a record.
const LAB: &str = r#"#!/bin/sh
if [ "$1" = report ]; then
    [ "$3" != --markdown ] || echo '### `lab compare`: decided' > "$4"
    exit ${REPORT:-0}
fi
[ "$CODE" != 2 ] || { echo "error: no server" >&2; exit 2; }
echo '{}' > record.json
echo "  Results    record.json"
exit "$CODE"
"#;

/// Runs the script with a `lab` that ends with this code.
#[track_caller]
fn run(toy: &Toy, code: &str, (variable, value): (&str, &str), expected: i32) {
    let variables = [("CODE", code), ("FLAME_SECONDS", "0"), (variable, value)];
    fails(&script(toy, &variables).output().unwrap(), expected, "");
}

#[test]
fn you_choose_which_verdicts_fail_with_python() {
    needs_python();
    let toy = requested("first", "same");
    toy.program("programs/lab", LAB);
    for (fail_on, codes) in [
        ("undecided", [("0", 0), ("1", 1), ("3", 3), ("101", 2), ("2", 2)]),
        ("slower", [("0", 0), ("1", 1), ("3", 0), ("101", 2), ("2", 2)]),
        ("never", [("0", 0), ("1", 0), ("3", 0), ("101", 2), ("2", 2)]),
    ] {
        codes.iter().for_each(|(code, expected)| run(&toy, code, ("FAIL_ON", fail_on), *expected));
    }
}

#[test]
fn a_failure_of_the_script_is_no_verdict_with_python() {
    needs_python();
    let toy = requested("first", "same");
    toy.program("programs/lab", LAB);
    run(&toy, "2", ("FAIL_ON", "never"), 2);
    let comment = toy.read("artifacts/comment.md");
    assert!(comment.starts_with("### `lab compare`: error\n"), "{comment}");
    assert!(comment.contains("error: no server"), "{comment}");

    for (variable, value) in [
        ("MINUTES", "0.5"),
        ("MINUTES", "99999999999999999999"),
        ("FLAME_SECONDS", "soon"),
        ("FAIL_ON", "Slower"),
        ("OUT", "/dev/null/artifacts"),
        // `lab report` fails with 1.
        ("REPORT", "1"),
    ] {
        fs::remove_file(toy.path("output")).unwrap();
        run(&toy, "0", (variable, value), 2);
        let output = toy.read("output");
        assert!(output.starts_with("verdict=error\n"), "{variable}={value}");
        // No comment is named that this call did not write.
        let (_, comment) = output.trim_end().split_once("comment=").unwrap();
        assert_eq!(comment.is_empty(), !toy.path("artifacts/comment.md").exists(), "{output}");
        assert!(comment.is_empty() || variable == "REPORT", "{variable}={value}: {output}");
    }
    fs::remove_file(toy.path("event.json")).unwrap();
    fails(&script(&toy, &[]).output().unwrap(), 2, "set BASE and HEAD");
}

#[test]
fn a_bench_is_compared_without_a_request() {
    let Repository(toy) = Repository::new();
    install(&toy);
    let variables =
        [("BASE", "first"), ("HEAD", "other"), ("BENCH", "steps"), ("EFFORT", "--quick")];
    fails(&script_with(&toy, &[], &variables).output().unwrap(), 1, "");
    let comment = toy.read("artifacts/comment.md");
    assert!(comment.starts_with("### `lab compare`: slower\n"), "{comment}");
    assert!(comment.contains("| time | 6.00 ns | 7.00 ns |"), "{comment}");
    assert!(!comment.contains("flame"), "{comment}");
}
