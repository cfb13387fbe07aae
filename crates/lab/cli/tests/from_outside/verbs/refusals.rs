//! Options, sides and answers that `lab compare` refuses, and says why.

use crate::toy::{Toy, compare, ends, fails, prints, server, stderr};

#[test]
fn no_error_shows_a_password() {
    let toy = Toy::new(&[]);
    let url = "http://127.0.0.1:1/";
    for wrong in [
        &["http://me:hunter2@127.0.0.1:1/", "--get=/"][..],
        &["http://me:hunter2@[/", "--get=/"],
        &["http://127.0.0.1:1/?jwt=hunter2", "--get=/"],
        &["http://127.0.0.1:1/", "--get=?pwd=hunter2"],
        &["http://127.0.0.1:1/", "--get=/?pwd=hunter2 x"],
        &["http://127.0.0.1:1/", "--get=/", "--header", "Bearer hunter2"],
        &["--tokn=hunter2"],
    ] {
        let output = toy.lab(&[&["compare"], wrong, &[url]].concat()).output().unwrap();
        ends(&output, 2);
        let text = stderr(&output);
        assert!(text.contains("error: ") && !text.contains("hunter2"), "{wrong:?}: {text}");
    }
}

#[test]
fn a_side_that_cannot_be_compared_is_an_error_with_its_cause() {
    let toy = Toy::new(&[]);
    for (baseline, candidate, message) in [
        ("", "--answer 7", "the candidate and the baseline answer GET / differently"),
        ("", "--die-at-start", "| the database is missing"),
        (
            "--count",
            "--count --answer error:it-is-missing",
            "20 bytes instead of 1 to 10: error:it",
        ),
        ("--status 302", "", "with a redirect (302) to `/elsewhere`: ask for that path"),
        (
            "--status 502 --answer overloaded",
            "",
            "error: the baseline answers GET / with status 502: overloaded\n",
        ),
    ] {
        let [baseline, candidate] = [baseline, candidate].map(|args| server(&toy, args));
        fails(&compare(&toy, &baseline, &candidate, &["--get", "/"]), 2, message);
        toy.wait_until_all_servers_ended();
    }
    // Two versions of a type are one type if the bodies may differ.
    let types = ["text/plain;version=0.0.4", "text/plain;version=1", "text/html"];
    let [old, new, other] = types.map(|it| server(&toy, &format!("--type '{it}'")));
    for (candidate, compare_by, code, message) in [
        (&new, "body", 2, "content-type text/plain;version=1 instead of text/plain;version=0.0.4"),
        (&new, "length", 3, "as you asked only its status"),
        (&other, "length", 2, "content-type text/html instead of text/plain"),
        (&other, "status", 3, "as you asked only its status is checked"),
    ] {
        let args = ["--get", "/", "--compare", compare_by];
        fails(&compare(&toy, &old, candidate, &args), code, message);
    }
    // A redirect may be what you measure.
    let moved = server(&toy, "--status 302");
    ends(&compare(&toy, &moved, &moved, &["--get", "/", "--compare", "status"]), 3);
}

#[test]
fn a_wrong_answer_is_an_error_in_the_warm_up_and_while_counting() {
    let toy = Toy::new(&[]);
    let good = server(&toy, "");
    // The second load is over before so many requests, and the count is not.
    for (at, load) in [
        (30, ["--users=3", "--think-ms=2", "--warm-up=1"]),
        (15, ["--users=1", "--think-ms=100", "--warm-up=0.1"]),
    ] {
        let candidate = server(&toy, &format!("--wrong-at-request {at}"));
        let sides = ["compare", &good, &candidate, "--get=/"];
        let runs = ["--pairs=2", "--measurement=0.2", "--open-loop=0"];
        let output = toy.run(&[&sides[..], &runs, &load].concat());
        fails(&output, 2, "some answers were wrong or missing");
    }
}

#[test]
fn a_request_that_never_gets_an_answer_is_lost() {
    let toy = Toy::new(&[]);
    let (baseline, candidate) = (server(&toy, ""), server(&toy, "--hang-at-request 20"));
    let output = compare(&toy, &baseline, &candidate, &["--get", "/"]);
    ends(&output, 2);
    prints(&output, "never got an answer");
    let allowed = ["--get", "/", "--allow-unfinished"];
    ends(&compare(&toy, &baseline, &candidate, &allowed), 3);
}

#[test]
fn bad_options_are_errors_before_a_server_starts() {
    let toy = Toy::new(&[]);
    std::fs::File::create(toy.path("large")).unwrap().set_len((64 << 20) + 1).unwrap();
    let good = server(&toy, "");
    for (baseline, args, message) in [
        (&*good, &["--get", "no-slash"][..], "must start with /"),
        (&good, &["--post", "/", "no-such-file"], "there is no file no-such-file"),
        (&good, &["--requests", "no-such-file"], "cannot read no-such-file"),
        (&good, &["--get", "/", "--header", "no colon"], "must be `Name: value`"),
        (&good, &["--get", "/", "--header", "a: b\r\nc: d"], "the header \"a\" has a character"),
        (&good, &["--get", "/a b"], "must be encoded: write ' ' as %20"),
        (&good, &["--get", "/a?b=<c"], "must be encoded: write '<' as %3C"),
        (
            &good,
            &["--get", "/a\nb"],
            "the path \"/a\\nb\" has a character that must be encoded: write '\\n' as %0A",
        ),
        (
            &good,
            &["--post", "/", "large"],
            "with large, the bodies of the requests have more than 64 MiB",
        ),
        (&good, &["--requests", "/dev/zero"], "/dev/zero is not a regular file"),
        (&good, &[], "there is no request: give --get, --post or --requests"),
        (
            &format!("{good} GET /b"),
            &["--get", "/"],
            "candidate is asked 1 request and the baseline 2: write as many `GET /path`",
        ),
        ("unbalanced 'quote", &["--get", "/"], "unbalanced quotes"),
    ] {
        fails(&compare(&toy, baseline, &good, args), 2, message);
    }
    std::fs::remove_dir_all(toy.path("target/lab")).unwrap();
    toy.write("target/lab", "in the way");
    fails(&compare(&toy, &good, &good, &["--get", "/"]), 2, "start `lab` elsewhere");
    fails(&toy.bench(&[]), 2, "start `lab` elsewhere");
    assert_eq!(toy.read("target/lab"), "in the way");
    assert!(toy.started().is_empty());
}
