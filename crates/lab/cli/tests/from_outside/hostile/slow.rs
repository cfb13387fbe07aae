//! Servers whose answers take long, and measurements that are too short for them.

use crate::toy::{Toy, ends, fails, prints, says, server, stderr};

#[test]
fn a_measurement_that_is_too_short_for_a_slow_server_is_an_error_that_names_a_longer_one() {
    let toy = Toy::new(&[]);
    let slow = server(&toy, "--turn-ms 700");
    let sides = ["compare", &slow, &slow, "--get=/", "--users=1"];
    let output = toy.run(&[&sides[..], &["--measurement=1"]].concat());
    fails(&output, 2, "a visit takes 7");
    says(&output, "so runs of 1 s have no figures: leave out --measurement, or give 3 s or more");
}

#[test]
fn a_measurement_with_few_answers_has_a_note_with_a_longer_one() {
    let toy = Toy::new(&[]);
    let slow = server(&toy, "--turn-ms 200");
    let sides = ["compare", &slow, &slow, "--get=/", "--users=1", "--pairs=2", "--warm-up=0.3"];
    let output = toy.run(&[&sides[..], &["--measurement=0.5", "--open-loop=0", "-v"]].concat());
    ends(&output, 3);
    prints(&output, "note[few-answers]");
    prints(&output, "--measurement");
}

#[test]
fn a_recording_that_is_too_short_for_a_slow_server_says_so() {
    let toy = Toy::new(&[]);
    let slow = server(&toy, "--turn-ms 700");
    let output = toy.run(&["flame", "--exec", &slow, "--get=/", "--users=1", "--seconds=1"]);
    ends(&output, 0);
    let words = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    let message = "so a recording of 1 s sees few answers: leave out --seconds, for 8 s";
    assert!(words.contains(message), "{words}");
}
