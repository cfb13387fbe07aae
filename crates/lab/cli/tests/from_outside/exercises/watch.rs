//! `lab practice try --watch` from outside: the loop of an exercise, with lines in place of keys.

use std::{
    fs::File,
    io::Write as _,
    os::unix::process::CommandExt as _,
    process::{Child, Stdio},
};

use nix::{sys::signal::killpg, unistd::Pid};

use crate::toy::{Signal, Toy, lab, stdout, wait_until};

const MINE: &str = "crates/toy/src/mine.rs";

/// Stands in for a cargo that builds the toy: a source with the word `broken` doesn't compile.
const CARGO: &str = r#"#!/bin/sh
[ "$1" = build ] || exit 0
case "$*" in *toy-mine*)
    if grep -q broken crates/toy/src/mine.rs; then
        printf 'error: expected item\n --> crates/toy/src/mine.rs:1:1\n' >&2
        exit 101
    fi
esac
for name in toy-slow toy-mine drill-slow; do
    printf '{"reason":"compiler-artifact","target":{"name":"%s","kind":["bin"],"src_path":"/s"},' "$name"
    printf '"executable":"%s","fresh":true}\n' "$PWD/target/bin/$name"
done
"#;

/// The reader's server: it gets the words of its source after `//` as options.
const SERVER: &str =
    "#!/bin/sh\nexec target/bin/toy-slow $(sed -n 's|^// ||p' crates/toy/src/mine.rs) \"$@\"\n";

/// What the toy answers to everything, also when it's asked what it has counted: so no visit costs anything.
const ANSWER: &str = r#"{"allocations":1,"bytes":2}"#;

fn toy() -> Toy {
    let toy = Toy::new(&["--answer", ANSWER]);
    toy.write("crates/toy/src/slow.rs", "fn slow() {}\n");
    let check = "[check]\nsuspects = [\"lock\"]\nspeed = 2.0\nat_most = { bytes = 9 }\nhints = [\"look again\", \"b\"]\n";
    let case = toy.read("crates/toy/case.toml");
    let case = case.replace("answer = \"6\"", &format!("answer = '{ANSWER}'"));
    toy.write("crates/toy/case.toml", &(case + check));
    toy.program("programs/cargo", CARGO);
    toy.program("target/bin/toy-mine", SERVER);
    toy
}

/// A reader in front of the loop.
struct Reader<'a> {
    toy: &'a Toy,
    lab: Child,
    /// How much of what is shown was seen.
    seen: usize,
}

impl<'a> Reader<'a> {
    fn begin(toy: &'a Toy, args: &[&str]) -> Self {
        let shown = File::create(toy.path("shown")).unwrap();
        let mut lab = lab();
        lab.args(["practice", "try"]).args(args).current_dir(toy.path("."));
        lab.env("PATH", toy.path_variable()).process_group(0);
        lab.stdin(Stdio::piped()).stderr(shown.try_clone().unwrap()).stdout(shown);
        Self { toy, lab: lab.spawn().unwrap(), seen: 0 }
    }

    /// Waits until this is shown after what was waited for last.
    #[track_caller]
    fn sees(&mut self, text: &str) {
        let mut end = None;
        wait_until(text, || {
            let shown = self.toy.read("shown");
            end = shown[self.seen..].find(text).map(|at| self.seen + at + text.len());
            end.is_some()
        });
        self.seen = end.unwrap();
    }

    fn types(&mut self, key: &str) {
        writeln!(self.lab.stdin.as_ref().unwrap(), "{key}").unwrap();
    }

    /// The exit code.
    fn ends(mut self) -> Option<i32> {
        self.lab.wait().unwrap().code()
    }
}

#[test]
fn each_save_is_checked_and_one_that_does_not_compile_ends_nothing() {
    let toy = toy();
    let mut reader = Reader::begin(&toy, &["toy", "--watch"]);
    reader.sees("q: quit");
    assert_eq!(toy.read(MINE), "fn slow() {}\n");
    toy.write(MINE, "broken\n");
    reader.sees(" --> crates/toy/src/mine.rs:1:1");
    reader.sees("q: quit");
    toy.write(MINE, "// --answer 7\n");
    reader.sees("GET /: `7` instead of");
    reader.types("h");
    reader.sees("Hint 1 of 2: look again");
    toy.write(MINE, "// --busy-with nothing\n");
    reader.sees("PASSED  toy: ");
    reader.sees("q: quit");
    reader.types("q");
    assert_eq!(reader.ends(), Some(0));
}

#[test]
fn the_loop_shows_what_is_known_and_ends_with_its_input() {
    let toy = toy();
    let mut reader = Reader::begin(&toy, &[]);
    reader.sees("Does it answer?");
    reader.sees("\n  64 ");
    reader.sees("A visit costs 0 allocations");
    reader.sees("Edit ");
    reader.sees("q: quit");
    drop(reader.lab.stdin.take());
    assert_eq!(reader.ends(), Some(0));
    let text = toy.read("shown");
    assert!(!text.contains("checking"), "a copy has nothing to judge: {text}");

    // A file with changes is judged at once, and the input may have ended before.
    toy.write(MINE, "// --answer 7\n");
    let mut reader = Reader::begin(&toy, &["--watch"]);
    drop(reader.lab.stdin.take());
    reader.sees("NOT YET  toy: ");
    assert_eq!(reader.ends(), Some(0));
}

#[test]
fn after_ctrl_c_nothing_runs_and_the_file_is_as_it_was() {
    let toy = toy();
    let mut reader = Reader::begin(&toy, &["toy", "--watch"]);
    reader.sees("q: quit");
    let before = toy.started().len();
    toy.write(MINE, "// --hang-at-request 1\n");
    reader.sees("checking toy");
    wait_until("a server of the check has started", || toy.started().len() > before);
    killpg(Pid::from_raw(reader.lab.id() as i32), Signal::SIGINT).unwrap();
    reader.sees("interrupted: the servers are stopped and your file is as you left it");
    assert_eq!(reader.ends(), Some(130));
    assert!(toy.all_servers_ended());
    assert_eq!(toy.read(MINE), "// --hang-at-request 1\n");
}

#[test]
fn the_next_one_begins_where_this_one_ends() {
    let toy = toy();
    toy.copy_the_case("crates/exercises/drill");
    toy.write("crates/exercises/drill/src/slow.rs", "fn slow() {}\n");
    toy.write("docs/src/SUMMARY.md", "- [Toy](cases/toy.md)\n- [Drill](exercises/drill.md)\n");
    let mut reader = Reader::begin(&toy, &["toy", "--watch"]);
    reader.sees("q: quit");
    reader.types("n");
    reader.sees("crates/exercises/drill/src/mine.rs");
    reader.types("n");
    reader.sees("this was the last one");
    assert_eq!(reader.ends(), Some(0));
}

#[test]
fn a_sitting_ends_with_how_good_the_guesses_were() {
    let toy = toy();
    let journal =
        |passed: &str| format!("[toy]\nsuspect = \"lock\"\nfactor = 8.0\nmeasured = 4.0\n{passed}");
    let said = |journal: &str, verb: &[&str]| {
        toy.write(".practice/journal.toml", journal);
        let said = stdout(&toy.run(&[&["practice"], verb].concat()));
        let said: Vec<_> = said.split_whitespace().collect();
        said.join(" ")
    };
    let factor = "The predicted factor was within 2.00× of what was measured.";
    let suspect = "Of 1 suspect, 1 was right.";
    for verb in [&["exercises"][..], &["try", "toy", "--watch"]] {
        let open = said(&journal(""), verb);
        assert!(open.contains(factor) && !open.contains(suspect), "{open}");
        let passed = said(&journal("passed = \"2026-11-22T10:12:30Z\"\n"), verb);
        assert!(passed.contains(&format!("{suspect} {factor}")), "{passed}");
        let nothing = said("", verb);
        assert!(!nothing.contains(" was "), "{nothing}");
    }
}
