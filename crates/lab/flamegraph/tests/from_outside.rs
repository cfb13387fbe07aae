//! The binary `lab-flamegraph`: stacks in, a picture or one clear line out.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
};

fn draw(stacks: &str, options: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lab-flamegraph"))
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its options may be gone before it reads anything.
    let _ = child.stdin.take().unwrap().write_all(stacks.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn stacks_become_a_picture_that_is_the_same_every_time() {
    let options = ["--title", "toy & slow", "--subtitle", "perf", "--deterministic"];
    let drawn = [0, 1].map(|_| draw("main;work 3\nmain;Vec<u8>::clone 1\n", &options));
    assert!(drawn[0].status.success(), "{drawn:?}");
    assert_eq!(drawn[0].stdout, drawn[1].stdout);
    let svg = String::from_utf8(drawn[0].stdout.clone()).unwrap();
    for part in ["<svg", "toy &amp; slow", ">perf<", "work (3 samples, 75.00%)", "Vec&lt;u8&gt;"] {
        assert!(svg.contains(part), "{part} is not in {svg}");
    }
}

#[test]
fn the_options_of_cargo_flamegraph_apply() {
    let options = ["--palette", "mem", "--count-name", "bytes", "--image-width", "777"];
    let svg = String::from_utf8(draw("main;work 3\n", &options).stdout).unwrap();
    assert!(svg.contains("work (3 bytes, 100.00%)") && svg.contains(r#"width="777""#), "{svg}");
}

/// What a picture counts in all.
fn total(svg: &str) -> &str {
    svg.split_once("total_samples=\"").unwrap().1.split_once('"').unwrap().0
}

#[test]
fn graphs_with_one_scale_have_one_total_and_a_pale_frame_for_what_one_lacks() {
    let options = ["--scale", "100", "--rest", "saved by the fix", "--deterministic"];
    let slow = draw("main;work 90\nzoo 10\n", &options);
    let fixed = draw("main;work 15\nzoo 10\n", &options);
    let [slow, fixed] = [slow, fixed].map(|drawn| String::from_utf8(drawn.stdout).unwrap());
    assert_eq!([total(&slow), total(&fixed)], ["100"; 2]);
    assert!(!slow.contains("<title>saved") && slow.contains("work (90 samples, 90.00%)"), "{slow}");
    let frame = "<title>saved by the fix (75 samples, 75.00%)</title><rect x=\"25.0000%\"";
    let (_, pale) = fixed.split_once(frame).unwrap_or_else(|| panic!("{fixed}"));
    assert!(pale.contains("fill=\"rgb(238,240,243)\" fg:x=\"25\" fg:w=\"75\""), "{pale}");
    assert!(fixed.contains("work (15 samples, 15.00%)"), "a share is one of the scale: {fixed}");
    let frames = |svg: &str| svg.matches("<title>").count();
    assert_eq!([frames(&slow), frames(&fixed)], [4, 5]);

    let narrow = draw("main;work 101\n", &options);
    let error = String::from_utf8(narrow.stderr).unwrap();
    assert!(narrow.stdout.is_empty() && error.contains("count 101, more than --scale 100"));
    assert_eq!(draw("main 1\n", &["--scale", "2", "--reverse"]).status.code(), Some(2));
}

#[test]
fn a_number_at_the_end_of_a_name_is_no_second_count() {
    let svg = String::from_utf8(draw("main;work 2 40\nmain;rest 10\n", &[]).stdout).unwrap();
    assert!(svg.contains("work\u{a0}2 (40 samples, 80.00%)<"), "{svg}");
    // Two files in one, as `inferno-diff-folded` writes them, are a comparison.
    let svg = String::from_utf8(draw("main;work 2 40\nmain;rest 5 10\n", &[]).stdout).unwrap();
    assert!(svg.contains("work (40 samples, 80.00%; +76.00%)"), "{svg}");
}

#[test]
fn input_that_cannot_be_drawn_is_one_line_and_no_picture() {
    for (stacks, message) in [
        ("", "no stacks on standard input"),
        ("main;work 3\nmain;work\n", "line 2 is not a folded stack"),
        ("main;work three\n", "`main;work three`"),
        ("main;work 0\n", "cannot draw these stacks"),
    ] {
        let output = draw(stacks, &[]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stacks:?}");
        assert!(output.stdout.is_empty() && error.lines().count() == 1, "{stacks:?}: {error}");
        assert!(error.contains(message), "{stacks:?}: {error}");
    }
}

#[test]
fn an_option_that_could_not_act_is_refused() {
    let output = draw("main;work 3\n", &["--skip-after", "main"]);
    assert_eq!(output.status.code(), Some(2));
}
