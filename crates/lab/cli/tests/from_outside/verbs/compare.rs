//! `lab compare` on servers that take a port and print nothing.

use std::process::Output;

use serde_json::{Value, json};

use crate::toy::{
    CALM, PERF, SHORT, STAND_IN, Toy, compare, ends, fails, json, prints, server, short, stdout,
    with_itself,
};

#[test]
fn json_has_the_verdict_and_its_figures() {
    let toy = Toy::new(&[]);
    // The server goes into the background, to another session, and its parent ends at once. Its CPU time
    // is there because it stays in the tree that is measured.
    let server = format!("sh -c '(setsid {} &); exec sleep 600'", server(&toy, ""));
    let args = ["--get", "/;jsessionid=hunter2?jwt=hunter2", "--json", "--metric", "latency-p50"];
    let args = [&args[..], &["--header", "Authorization: hunter2"]].concat();
    let output = compare(&toy, &server, &server, &args);
    // Two pairs are too few for a verdict.
    ends(&output, 3);
    let document = json(&output);
    let decided = [&document["verdict"], &document["pairs"], &document["metric"]];
    assert_eq!(decided, [&json!("undecided"), &json!(2), &json!("latency-p50")]);
    let reason = document["reason"]["sentence"].as_str().unwrap();
    assert!(reason.starts_with("p50 latency: "), "{reason}");
    for side in ["speedup", "aa"] {
        for metric in ["throughput", "cpu_per_request"] {
            assert!(document[side][metric]["estimate"].as_f64() > Some(0.0), "{document}");
        }
    }
    assert!(document["exact"].is_object());
    ends(&toy.lab(&["report"]).output().unwrap(), 0);
    ends(&toy.lab(&["report", "--markdown", "it.md"]).output().unwrap(), 0);
    // All are read by others.
    for file in [document["record"].as_str().unwrap(), "it.md", "target/lab/report.html"] {
        let text = toy.read(file);
        assert!(text.contains("Authorization: …") && !text.contains("hunter2"), "{text}");
    }
}

#[test]
fn the_verdict_comes_first_and_everything_with_a_flag() {
    let toy = Toy::new(&[]);
    let server = server(&toy, "");
    let args = [&SHORT[..4], &CALM].concat();
    let output = with_itself(&toy, &server, &args).output().unwrap();
    let screen = stdout(&output);
    // Two pairs are too few for a verdict.
    assert!(screen.trim_start().starts_with("undecided in throughput\n"), "{screen}");
    // On a busy machine, there are more notes than the three that are shown.
    let last = screen.trim_end().lines().last().unwrap();
    let is_invitation = last.starts_with("  more: -v") || last.contains("more note");
    assert!(screen.lines().count() < 24 && is_invitation, "{screen}");
    let output = compare(&toy, &server, &server, &["--get=/"]);
    prints(&output, "throughput (decides)");
}

#[test]
fn the_worst_of_several_candidates_decides() {
    let toy = Toy::new(&[]);
    let [fast, slow] = ["", "--turn-ms 5"].map(|args| server(&toy, args));
    let sides = ["compare", &fast, &format!("same={fast}"), &format!("late={slow}"), "--get=/"];
    let runs = ["--users=1", "--pairs=7", "--measurement=0.2", "--warm-up=0.1", "--open-loop=0"];
    let output = toy.run(&[&sides[..], &runs].concat());
    ends(&output, 1);
    prints(&output, "slower: late");
    let screen = stdout(&output);
    let row = |name: &str| screen.lines().find(|line| line.trim_start().starts_with(name));
    assert!(row("baseline ").is_some() && row("same ").is_some(), "{screen}");
    assert!(row("late ").is_some_and(|row| row.contains("slower")), "{screen}");
    ends(&toy.lab(&["report", "--markdown", "it.md"]).output().unwrap(), 0);
    let comment = toy.read("it.md");
    assert!(comment.starts_with("### `lab compare`: slower\n"), "{comment}");
    let output = toy.run(&[&sides[..], &["--pairs=2", "--json"], &runs[2..], &CALM].concat());
    ends(&output, 3);
    let document = json(&output);
    assert_eq!(document["verdict"], "undecided");
    for name in ["same", "late"] {
        let one = &document["candidates"][name];
        assert!(one["speedup"]["peak_memory"]["estimate"].is_number(), "{document}");
        assert!(one["exact"][name].is_object(), "{document}");
    }
}

#[test]
fn benchmarks_of_any_program_get_a_verdict_each() {
    let toy = Toy::new(&[]);
    toy.program("bench", "#!/bin/sh\necho running\necho sort $1\necho own sum $2\n");
    let of = |sides: &[&str], more: &[&str]| {
        let flags = sides.iter().map(|side| format!("--bench-command={side}")).collect::<Vec<_>>();
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        toy.run(&[&["compare"], &flags[..], more].concat())
    };
    let output = of(&["./bench 20 9", "./bench 10 9"], &[]);
    ends(&output, 0);
    prints(&output, "faster: sort; equivalent: own sum");
    prints(&output, "sort faster 2.00× (2.00–2.00) 20.0 ns → 10.0 ns");
    // Criterion before 0.4 takes whole seconds only, and prints its error instead of writing it to standard error.
    toy.program(
        "old",
        "#!/bin/sh\ncase $2 in --warm-up-time=*.*) echo \"error: The argument '0.02' isn't a valid value\"; exit 1;; esac\n\
         echo sort $1\n",
    );
    let old = |time, flag| format!("./old {time} --warm-up-time={flag}");
    let output = of(&[&old(20, "0.02"), &old(10, "0.02")], &[]);
    ends(&output, 0);
    prints(&output, "candidate is faster: time 2.00× lower (2.00–2.00)");
    toy.program("refuses", "#!/bin/sh\necho 'error: no such benchmark'; exit 1\n");
    fails(&of(&["./refuses", "./refuses"], &[]), 2, "error: no such benchmark");
    // What one side has no time of is never a success.
    for lost in ["1,5", "0", "nan", "2 ns", "words"] {
        let output = of(&["./bench 20 9", &format!("./bench 10 '{lost}'")], &[]);
        ends(&output, 3);
        prints(&output, "own sum: the candidate has no time of it");
        let output = of(&[&format!("./bench 20 '{lost}'"), "./bench 10 9"], &["--json"]);
        ends(&output, 3);
        let reason = &json(&output)["candidates"]["own sum"]["reason"];
        assert_eq!(reason["code"], "not-measured", "{reason}");
    }
    // What neither side has a time of is named.
    let output = of(&["./bench 20 1,5", "./bench 10 1,5"], &["-v"]);
    ends(&output, 0);
    prints(
        &output,
        "note[not-compared]: without a usable time in any build, and so not compared: own sum",
    );
    ends(&of(&["./bench 10 9", "./bench 20 9"], &["--json"]), 1);
    ends(&toy.lab(&["report"]).output().unwrap(), 0);
    let none =
        "measured nothing: it left no file of Criterion's, and printed no line `NAME NANOSECONDS`";
    fails(&of(&["./bench", "./bench 1 2"], &[]), 2, none);
    fails(&of(&["./bench 1 2"], &[]), 2, "give two servers or more");
    fails(&of(&["./bench 1 2", "./bench 1 2"], &["--get=/"]), 2, "cannot be used with");
}

#[test]
fn memory_that_grows_to_the_end_of_each_run_is_noticed_and_a_full_store_is_not() {
    let toy = Toy::new(&[]);
    let store = server(&toy, "--keep 64 --keep-at-most 100");
    // Long enough that memory is read often, also while other tests keep the cores busy.
    let loops = ["--pairs=6", "--measurement=1", "--warm-up=0.3", "--open-loop=0"];
    let args = [&loops[..], &CALM, &["--get=/", "--json"]].concat();
    let output = toy.run(
        &[&["compare", &store, &format!("leak={}", server(&toy, "--keep 16"))], &args[..]].concat(),
    );
    let record: Value =
        serde_json::from_str(&toy.read(json(&output)["record"].as_str().unwrap())).unwrap();
    let [store, leak] =
        [0, 1].map(|at| record["cases"][0]["variants"][at]["memory_growth"].clone());
    assert_eq!(store["is_found"], false, "{store}");
    assert_eq!(leak["is_found"], true, "{leak}");
    // 16 KiB a request of 3 users, who pause for 2 ms, in MiB per second.
    assert!((0.5..24.0).contains(&leak["low"].as_f64().unwrap()), "{leak}");
    ends(&toy.lab(&["report"]).output().unwrap(), 0);
    assert!(toy.read("target/lab/report.html").contains("memory-grows"));
}

/// What each run met: its seed, its arrivals and the requests of other clients.
fn met(runs: &Value) -> Vec<[u64; 3]> {
    let runs = runs.as_array().unwrap().iter();
    let outcome = |run: &Value, key: &str| run["outcome"][key].as_u64().unwrap_or(0);
    let met = runs.map(|run| {
        [run["seed"].as_u64().unwrap(), outcome(run, "sent"), outcome(run, "background_sent")]
    });
    met.collect()
}

/// One trace for each of two rounds and for the extra runs of the baseline, whatever the server.
#[track_caller]
fn one_trace_a_round(mut met: Vec<[u64; 3]>, sides: usize) {
    assert_eq!(met.len(), 2 + 2 * 2 * (sides - 1), "{met:?}");
    met.sort_unstable();
    met.dedup();
    assert_eq!(met.len(), 3, "{sides} sides: {met:?}");
    let mut seeds: Vec<_> = met.iter().map(|[seed, ..]| seed).collect();
    seeds.dedup();
    assert_eq!(seeds.len(), 3, "{sides} sides: {met:?}");
}

const TWO_ROUNDS: [&str; 7] = [
    "--quick",
    "--pairs=2",
    "--measurement=0.2",
    "--warm-up=0.1",
    "--open-loop=0.3",
    "--metric=latency-p50",
    "--json",
];

#[test]
fn all_sides_meet_the_same_arrivals_in_a_round_and_others_in_the_next() {
    for sides in [2, 3] {
        let toy = Toy::new(&[]);
        let baseline = server(&toy, "");
        let candidates: Vec<_> = (1..sides).map(|nth| format!("side{nth}={baseline}")).collect();
        let candidates = candidates.iter().map(String::as_str);
        let args: Vec<_> =
            ["compare", &baseline, "--get=/"].into_iter().chain(candidates).collect();
        let output = toy.run(&[&args[..], &TWO_ROUNDS, &CALM].concat());
        ends(&output, 3);
        let record = toy.read(&toy.results()[0]);
        let record: Value = serde_json::from_str(&record).unwrap();
        // A candidate's record has its own runs and those of the baseline that they are paired with.
        let mut runs = Vec::new();
        for case in record["cases"].as_array().unwrap() {
            runs.extend(case["open_runs"].as_array().unwrap().iter().filter(|run| {
                run["variant"] != "baseline"
                    || !run["pair"].is_null()
                    || case == &record["cases"][0]
            }));
        }
        one_trace_a_round(met(&runs.into_iter().cloned().collect()), sides);
    }
}

#[test]
fn all_variants_of_a_case_meet_the_same_requests_of_other_clients_in_a_round() {
    for sides in [2, 3, 5] {
        let toy = Toy::new(&[]);
        let steps: Vec<_> = (2..sides).map(|nth| format!("step{nth}")).collect();
        let steps: String = steps.iter().map(|step| format!("\"{step}\", ")).collect();
        let case = toy.read("crates/toy/case.toml");
        let case = case.replace("\"slow\", ", &format!("\"slow\", {steps}"));
        let other = "\n[[request]]\npath = \"/\"\nanswer = \"6\"\nrate_per_s = 60\n";
        toy.write("crates/toy/case.toml", &format!("arrivals_per_s = 100\n{case}{other}"));
        for nth in 2..sides {
            let copy = toy.path("target/bin").join(format!("toy-step{nth}"));
            std::fs::copy(STAND_IN, copy).unwrap();
        }
        let document = json(&toy.run(&[&["bench", "toy", "--steps"], &TWO_ROUNDS[..]].concat()));
        let of_rounds = met(&document["cases"][0]["open_runs"]);
        assert!(of_rounds.iter().all(|[.., background]| *background > 0), "{of_rounds:?}");
        one_trace_a_round(of_rounds, sides);
        // The closed loop has one run of each variant, because nothing depends on it. All meet the same.
        let mut closed: Vec<_> = met(&document["cases"][0]["runs"])
            .into_iter()
            .map(|[seed, _, others]| [seed, others])
            .collect();
        assert_eq!(closed.len(), sides);
        closed.dedup();
        assert_eq!(closed.len(), 1, "{closed:?}");
    }
}

#[test]
fn requests_come_from_a_file_or_are_those_of_one_side() {
    let toy = Toy::new(&[]);
    let requests = "[[request]]\npath = \"/a\"\nheaders = { accept = \"text/plain\" }\n\
                    [[request]]\nmethod = \"DELETE\"\npath = \"/b\"\n";
    toy.write("requests.toml", requests);
    let counting = format!("sh -c 'exec {STAND_IN} --port $THE_PORT --count'");
    let args = ["--requests=requests.toml", "--port-env=THE_PORT", "--ready=/health"];
    let [slow, fast] = ["/slow", "/fast"].map(|path| format!("{counting} GET {path}"));
    let output = compare(&toy, &slow, &fast, &args);
    // What a counter answers differs each time.
    fails(&output, 3, "only its status, content type and length (1 to 10 bytes) are checked");
    prints(&output, "note[answers-vary]: baseline: it answers");
    prints(&output, "GET /fast against sh -c");
}

#[test]
fn a_port_goes_into_the_environment() {
    let toy = Toy::new(&[]);
    let server = format!("sh -c 'exec {STAND_IN} --port $THE_PORT'");
    ends(&compare(&toy, &server, &server, &["--port-env=THE_PORT", "--get=/"]), 3);
}

#[test]
fn a_server_may_print_what_it_likes() {
    let toy = Toy::new(&["--noise"]);
    ends(&toy.bench(&[]), 0);
    // Nobody waits for a line of a server that is given its port. Its output is read all the same.
    let noisy = server(&toy, "--noise");
    ends(&compare(&toy, &noisy, &noisy, &["--get", "/"]), 3);
}

/// Compares a server in a shell with itself. `perf` counts as many calls as this variable says.
fn with_perf(toy: &Toy, calls: &[(&str, &str)]) -> Output {
    toy.program("programs/perf", PERF);
    // The shell only waits; its child answers.
    let command = format!("sh -c '{}; true'", server(toy, ""));
    let mut lab = short(toy, &command);
    lab.arg("--json").env("PATH", toy.path_variable()).envs(calls.iter().copied());
    lab.output().unwrap()
}

#[test]
fn system_calls_are_those_of_all_processes() {
    let toy = Toy::new(&[]);
    let output = with_perf(&toy, &[("CALLS", "250")]);
    assert_eq!(json(&output)["exact"]["candidate"], json!({ "system_calls": 10.0 }));

    let servers: Vec<_> = toy.started().iter().map(u32::to_string).collect();
    for arguments in toy.read("attached").lines() {
        let pids: Vec<_> = arguments.rsplit(' ').next().unwrap().split(',').collect();
        assert_eq!(pids.len(), 2, "the shell and the server: {arguments}");
        assert!(servers.iter().any(|server| server == pids[1]), "{arguments}");
    }
}

#[test]
fn a_count_is_exact_only_if_it_repeats() {
    let toy = Toy::new(&[]);
    let output = with_perf(&toy, &[]);
    assert_eq!(json(&output)["exact"]["candidate"], json!({}));
    let range = &json(&output)["ranges"]["candidate"]["system_calls"];
    assert!(range[0].as_f64().unwrap() < range[1].as_f64().unwrap(), "{range}");
    let output = with_perf(&toy, &[("CALLS", "many")]);
    let notes = json(&output)["notes"].to_string();
    assert!(notes.contains("not-counted"), "{notes}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("system calls of"));
}

#[test]
fn a_connection_that_closes_under_a_request_is_a_note() {
    let toy = Toy::new(&[]);
    let output = short(&toy, &server(&toy, "--close-at-request 50")).output().unwrap();
    ends(&output, 3);
    prints(&output, "candidate: 2 requests sent again, because");
}

#[test]
fn each_request_has_its_cpu_time_on_both_sides_from_loads_of_it_alone() {
    let toy = Toy::new(&[]);
    let [slow, fast] = ["--work-at /report", ""].map(|args| server(&toy, args));
    let output = compare(&toy, &slow, &fast, &["--get=/", "--get=/report", "--json"]);
    // Two pairs are too few for a verdict, whatever these runs show.
    ends(&output, 3);
    let document = json(&output);
    let report = &document["requests"][1];
    assert_eq!(report["request"], "GET /report", "{document:#}");
    // The one that takes most time is the first, and has a cost unless the machine lets the server answer hardly any.
    let [Some(before), Some(after)] =
        [0, 1].map(|side| report["cpu_us_per_request"][side].as_f64())
    else {
        let notes = document["notes"].to_string();
        let is_disturbed = notes.contains("neighbours") || notes.contains("generator-waited");
        assert!(is_disturbed, "{document:#}");
        return;
    };
    assert!(before > 2.0 * after, "{report}");
    // The record has them, too.
    ends(&toy.lab(&["report"]).output().unwrap(), 0);
    let page = toy.read("target/lab/report.html");
    assert!(page.contains("request alone") && page.contains("have no interval"));
}
