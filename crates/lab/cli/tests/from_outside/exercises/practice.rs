//! `lab practice` from outside: the reader's file, the journal, and what passes the gates.

use std::{
    fs,
    io::Write as _,
    process::{Output, Stdio},
};

use crate::toy::{SHORT, Toy, ends, fails, json, prints, says, stderr, stdout};

/// What the reader predicted and did.
const JOURNAL: &str = ".practice/journal.toml";

/// A toy that can be practised.
fn toy() -> Toy {
    let toy = Toy::new(&[]);
    toy.write("crates/toy/src/slow.rs", "#![expect(a)]\n\nfn slow() {}\n");
    toy.write("crates/toy/src/fixed.rs", "//! The fix.\nfn fixed() {}\n");
    let check = "[check]\nsuspects = [\"lock\"]\nspeed = 2.0\nat_most = { bytes = 9 }\nhints = [\"a\", \"b\"]\n";
    toy.write("crates/toy/case.toml", &(toy.read("crates/toy/case.toml") + check));
    toy
}

fn practice(toy: &Toy, args: &[&str]) -> Output {
    toy.run(&[&["practice"], args].concat())
}

/// [`practice`], with this typed on the terminal.
fn asked(toy: &Toy, args: &[&str], typed: &str) -> Output {
    let mut lab = toy.lab(&[&["practice"], args].concat()).stdin(Stdio::piped()).spawn().unwrap();
    lab.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    lab.wait_with_output().unwrap()
}

#[test]
fn the_readers_file_is_never_overwritten() {
    let toy = toy();
    let mine = "crates/toy/src/mine.rs";
    prints(&practice(&toy, &["try", "toy"]), "just try toy --watch");
    assert_eq!(toy.read(mine), "fn slow() {}\n");
    toy.write(mine, "edited\n");
    for (verb, error) in [
        ("try", "was left as it is; `just try toy --again` begins again"),
        ("solution", "has not passed"),
        ("predict", "nothing was changed"),
        ("check", "toy-mine is missing"),
    ] {
        fails(&practice(&toy, &[verb, "toy"]), 2, error);
        assert_eq!(toy.read(mine), "edited\n");
    }
    let solution = stdout(&practice(&toy, &["solution", "toy", "--give-up"]));
    assert!(solution.starts_with("The fix.\n") && solution.contains("\n-edited\n"), "{solution}");
    assert_eq!(solution.matches("The fix.").count(), 1, "the difference is without it");
    ends(&practice(&toy, &["try", "toy", "--again"]), 0);
    assert_eq!(toy.read("crates/toy/src/mine.rs.old"), "edited\n");
}

#[test]
fn predictions_and_hints_are_remembered_in_whole_files() {
    let toy = toy();
    practice(&toy, &["predict", "toy", "--suspect", "lock", "--factor", "4x"]);
    // Each change replaces the file in one step, so the old one stays as it was.
    let [journal, old] = [JOURNAL, "old"].map(|path| toy.path(path));
    std::fs::hard_link(journal, old).unwrap();
    let hint = || stdout(&practice(&toy, &["hint", "toy"]));
    assert_eq!(hint(), "  Hint 1 of 2: a\n");
    assert_eq!(hint(), "  Hint 2 of 2: b\n", "the first one is not shown again");
    assert!(hint().starts_with("  Hint 2 of 2: b\n\n  There are no more hints."));
    assert!(toy.read("old").contains("\nfactor = 4.0\nhints = 0\n"), "{}", toy.read("old"));
    assert!(toy.read(JOURNAL).contains("\nfactor = 4.0\nhints = 2\n"), "{}", toy.read(JOURNAL));
    assert!(stdout(&practice(&toy, &["exercises"])).contains("  predicted\n"));
    let bench = toy.run(&[&["practice", "bench", "toy"], &SHORT[..]].concat());
    prints(&bench, "you said 4.00×, measured ");
    prints(&bench, "you suspect `lock` in toy, which would show in the timeline");
    prints(&bench, "The predicted factor was within ");
    assert!(toy.read(JOURNAL).contains("\nmeasured = "), "{}", toy.read(JOURNAL));
    let alone = stdout(&toy.bench(&["toy"]));
    assert!(!alone.contains("you said") && alone.contains("toy"), "{alone}");
}

#[test]
fn a_prediction_says_why_it_refuses() {
    let toy = toy();
    let output = asked(&toy, &["predict", "toy"], "locks\nLock\nmany\n4x\n");
    ends(&output, 0);
    says(&output, "  no suspect is named `locks`; did you mean `lock`?\n  a kind of fault: ");
    says(&output, "`many` isn't a factor");
    prints(&output, "Noted: lock, 4.00×.");
    let noted = "suspect = \"lock\"\nfactor = 4.0\n";
    assert!(toy.read(JOURNAL).contains(noted), "{}", toy.read(JOURNAL));

    // It stands.
    let output = asked(&toy, &["predict", "toy"], "parsing\n2\n");
    fails(
        &output,
        2,
        "you predicted for toy: lock, 4.00×; it stands, unless you predict with --again",
    );
    assert!(toy.read(JOURNAL).contains(noted));
    // The input ends before both are there.
    let output = asked(&toy, &["predict", "toy", "--again"], "parsing\n");
    fails(&output, 2, "error: no answer, so nothing was changed");
    assert!(stderr(&output).ends_with("--factor N\n"), "{}", stderr(&output));
    assert!(toy.read(JOURNAL).contains(noted));
    let output = practice(&toy, &["predict", "toy", "--again", "--suspect", "C"]);
    fails(&output, 2, "no suspect is named `C`");
    ends(
        &practice(&toy, &["predict", "toy", "--again", "--suspect", "parsing", "--factor", "2"]),
        0,
    );
    assert!(toy.read(JOURNAL).contains("suspect = \"parsing\"\nfactor = 2.0\n"));
}

#[test]
fn predictions_can_be_sent_to_somebody() {
    let toy = toy();
    let output = practice(&toy, &["predict", "--export"]);
    fails(&output, 2, "you have predicted nothing yet");
    let flags = ["predict", "toy", "--suspect", "parsing", "--factor", "2"];
    ends(&practice(&toy, &flags), 0);
    let exported = stdout(&practice(&toy, &["predict", "--export"]));
    assert_eq!(exported, "toy: predicted\n  suspected parsing\n  predicted 2.00×\n");
}

#[test]
fn exercises_are_listed_with_their_state_in_the_order_of_the_course() {
    let toy = toy();
    toy.copy_the_case("crates/exercises/drill");
    toy.write("docs/src/SUMMARY.md", "- [Drill](exercises/drill.md)\n- [Toy](cases/toy.md)\n");
    practice(&toy, &["try", "toy"]);
    let list = stdout(&practice(&toy, &["exercises"]));
    let lines: Vec<Vec<_>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["drill", "docs/src/exercises/drill.md"]);
    assert_eq!(lines[1], ["toy", "docs/src/cases/toy.md", "tried"]);
}

#[test]
fn other_answers_do_not_pass() {
    let toy = toy();
    practice(&toy, &["try", "toy"]);
    toy.program("target/bin/toy-mine", "#!/bin/sh\nexec \"${0%mine}slow\" \"$@\" --answer 7\n");
    let output = practice(&toy, &["check", "--json"]);
    ends(&output, 1);
    assert_eq!(
        json(&output)["gates"][0]["measured"],
        "4 users at the same time: GET /: `7` instead of `6`"
    );
}

#[test]
fn files_that_differ_from_the_commit_are_named() {
    let toy = toy();
    toy.write(".gitignore", "mine.rs\ntarget\npids\n.practice\n");
    toy.git(&["init", "--quiet"]);
    toy.git(&["add", "."]);
    toy.git(&["commit", "--quiet", "--message", "as it is"]);
    practice(&toy, &["try", "toy"]);
    fs::copy(toy.path("target/bin/toy-slow"), toy.path("target/bin/toy-mine")).unwrap();
    let notes = || json(&practice(&toy, &["check", "--json", "--fast"]))["notes"].clone();
    assert_eq!(notes(), serde_json::json!([]));
    toy.write("crates/toy/case.toml", &toy.read("crates/toy/case.toml").replace("= 2.0", "= 1.5"));
    let differs = "crates/toy/case.toml differs from the commit: this verdict is about a changed case, and isn't noted \
                   in your journal";
    assert_eq!(notes(), serde_json::json!([differs]));
    toy.git(&["commit", "--quiet", "--all", "--message", "easier"]);
    toy.write("crates/toy/build.rs", "fn main() {}\n");
    let differs = differs.replace("case.toml", "build.rs");
    assert_eq!(notes(), serde_json::json!([differs]), "a new file counts, too");
}

/// The translation of the toy's hints.
const CHINESE: &str =
    "[toy]\nquestion = \"它响应吗？\"\nhints = [\"甲\"]\nsolution = \"修复：乙。\"\n";

#[test]
fn a_reader_is_told_in_chinese_what_is_translated() {
    let toy = toy();
    toy.write("docs/zh-CN/practice.toml", CHINESE);
    let hint = |args: &[&str]| stdout(&practice(&toy, &[&["hint", "toy"], args].concat()));
    assert_eq!(hint(&["--language", "zh"]), "  第 1 条提示，共 2 条：甲\n");
    assert_eq!(
        hint(&["--language", "zh"]),
        "  第 2 条提示，共 2 条：b\n",
        "a missing one is English"
    );
    let solution = practice(&toy, &["solution", "toy", "--give-up", "--language", "zh"]);
    assert!(stdout(&solution).starts_with("修复：乙。\n"), "{}", stdout(&solution));
    let output = practice(&toy, &["--language", "zh", "predict", "toy"]);
    fails(&output, 2, "没有得到回答");
    says(&output, "它响应吗？");
    practice(&toy, &["try", "toy"]);
    fs::copy(toy.path("target/bin/toy-slow"), toy.path("target/bin/toy-mine")).unwrap();
    let output = practice(&toy, &["check", "toy", "--fast", "--language", "zh"]);
    prints(&output, "还没有通过 toy：");
    let document = json(&practice(&toy, &["check", "toy", "--fast", "--json", "--language", "zh"]));
    assert!(document.to_string().is_ascii(), "programs read English: {document}");
    toy.write("docs/zh-CN/practice.toml", "[toy]\nhint = []\n");
    fails(&practice(&toy, &["hint", "toy", "--language", "zh"]), 2, "practice.toml");
    assert_eq!(hint(&[]).lines().next(), Some("  Hint 2 of 2: b"));
}

#[test]
fn the_locale_chooses_the_language_and_a_flag_overrules_it() {
    let toy = toy();
    let said = |variables: &[(&str, &str)], args: &[&str]| {
        stdout(&toy.lab(args).envs(variables.iter().copied()).output().unwrap())
    };
    let chinese = [("LANG", "zh_CN.UTF-8")];
    for (code, text) in [("steal", "宿主机"), ("lock", "释放守卫")] {
        let explained = said(&chinese, &["explain", code]);
        assert!(explained.contains(text), "{explained}");
        let explained = said(&chinese, &["explain", code, "--language", "en"]);
        assert!(explained.is_ascii(), "{explained}");
    }
    assert!(said(&chinese, &["practice", "hint", "toy", "--language", "en"]).contains("Hint 1 of"));
    assert!(said(&chinese, &["practice", "hint", "toy"]).contains("第 2 条提示"));
    // As `setlocale` has it: the first that is set, and not empty.
    for (variables, is_chinese) in [
        ([("LC_ALL", "C"), ("LC_MESSAGES", "zh_CN"), ("LANG", "zh_CN")], false),
        ([("LC_ALL", ""), ("LC_MESSAGES", "zh_TW.UTF-8"), ("LANG", "C")], true),
        ([("LC_ALL", ""), ("LC_MESSAGES", "de_DE"), ("LANG", "zh_CN")], false),
    ] {
        assert_eq!(!said(&variables, &["explain", "steal"]).is_ascii(), is_chinese);
    }
}

const DRILL: &str = r#"
sources = ["docs/replications/toy.json"]
more = "primer.md"
right = 2
[figures]
ratio = '<!-- lab: replications.toy.ratio -->66.4<!-- /lab -->'
[table]
en = ["run", "ratio"]
zh = ["运行", "比值"]
rows = [['first // 第一次', '{ratio}']]
[en]
shown = "It was `{ratio}`."
question = "Why?"
answers = ["by chance", "b", "c", "d"]
because = ["e", "f", "g", "h"]
[zh]
shown = "是 {ratio}。"
question = "为什么？"
answers = ["碰巧", "乙", "丙", "丁"]
because = ["一", "二", "三", "四"]
"#;

#[test]
fn a_drill_is_shown_and_only_asked_at_a_terminal() {
    let toy = toy();
    fails(&practice(&toy, &["drill"]), 2, "docs/drills");
    toy.write("docs/drills/07-toy.toml", DRILL);
    let output = practice(&toy, &["drill"]);
    prints(&output, "Drill 1 of 1. It was 66.4. run ratio first 66.4 Why? 1. by chance 2. b");
    fails(&output, 2, "run it in a terminal, or read docs/src/drills.md");
    prints(&practice(&toy, &["drill", "--language", "zh"]), "小测 1（共 1 道）。是 66.4。");
    fails(&practice(&toy, &["drill", "2"]), 2, "choose one from 1 to 1");
}
