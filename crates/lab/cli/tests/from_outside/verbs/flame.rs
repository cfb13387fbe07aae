//! `lab flame` from outside, with a `perf` that does what a test asks of it.

use std::{
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output},
};

use lab_system::process::{is_alive, pids};
use serde_json::Value;

use crate::toy::{CALM, Signal, Toy, ends, fails, interrupt, prints, says, server, stderr};

/// The pages, and what is being made.
const PAGES: &str = "target/lab/flame";
/// Some of the files of a page.
const FILES: [&str; 6] =
    ["index.html", "meta.json", "slow.svg", "fixed.svg", "diff.svg", "slow.folded"];

/// A toy with a fake `perf` in this mode. Without a mode, `perf` is missing.
fn studio(mode: Option<&str>) -> Toy {
    let toy = Toy::new(&[]);
    edit_the_case(&toy, "users = 3", "users = 3, think_ms = 2");
    toy.write("programs/perf.mode", mode.unwrap_or_default());
    let fake = Path::new(env!("CARGO_MANIFEST_DIR")).join("../profile/tests/fake_perf.sh");
    // What the scripts need, and nothing else that would profile.
    let tools = ["sh", "cat", "dirname", "kill"].map(|tool| {
        let found = ["/bin", "/usr/bin"].map(|dir| Path::new(dir).join(tool));
        (tool, found.into_iter().find(|path| path.exists()))
    });
    for (name, found) in tools.into_iter().chain([("perf", mode.map(|_| fake))]) {
        let _ = found.map(|path| symlink(path, toy.path("programs").join(name)).unwrap());
    }
    toy
}

fn edit_the_case(toy: &Toy, from: &str, to: &str) {
    let case = "crates/toy/case.toml";
    toy.write(case, &toy.read(case).replace(from, to));
}

fn lab(toy: &Toy, seconds: &str, args: &[&str]) -> Command {
    let mut lab = toy.lab(&[&["flame", "--seconds", seconds], args].concat());
    lab.env("PATH", toy.path("programs"));
    lab
}

fn flame(toy: &Toy, args: &[&str]) -> Output {
    lab(toy, "1", args).output().unwrap()
}

/// Fails unless the page is there, with these files and not those.
#[track_caller]
fn has(toy: &Toy, page: &str, files: &[&str], others: &[&str]) {
    let found = toy.files(&format!("{PAGES}/{page}"));
    let are_in = |ends: &&str| found.iter().any(|file| file.ends_with(*ends));
    assert!(files.iter().all(are_in) && !others.iter().any(are_in), "{found:?}");
    assert_eq!(toy.files(PAGES), [page], "nothing else is left");
}

fn page(toy: &Toy, page: &str) -> String {
    toy.read(&format!("{PAGES}/{page}/index.html"))
}

fn meta(toy: &Toy) -> Value {
    serde_json::from_str(&toy.read("target/lab/flame/toy/meta.json")).unwrap()
}

#[test]
fn a_page_has_its_pictures_and_stacks() {
    let toy = studio(Some("ok"));
    let output = flame(&toy, &["toy"]);
    ends(&output, 0);
    has(&toy, "toy", &FILES, &["perf.data", "raw.svg"]);
    let meta = meta(&toy);
    for variant in ["slow", "fixed"] {
        let found = &meta["variants"][variant];
        assert_eq!(found["profiler"], "perf-with-kernel", "{meta}");
        assert_eq!((&found["samples"], &found["rooted_share"]), (&300.into(), &1.0.into()));
        assert!(
            found["requests"].as_u64() > Some(0) && found["cpu_agreement"].is_number(),
            "{meta}"
        );
    }
    prints(&flame(&toy, &["toy", "-v"]), "perf, with kernel frames");
    let html = page(&toy, "toy");
    assert!(html.contains("data=\"slow.svg\"") && html.contains("Does it answer?"));
    assert!(!html.contains("class=\"pair\""));
    prints(&output, "target/lab/flame/toy/index.html all results: target/lab/index.html");
    let link = "<a href=\"flame/toy/index.html\">";
    assert_eq!(toy.read("target/lab/index.html").matches(link).count(), 2);
    prints(&output, " slow CPU: ");
}

#[test]
fn a_page_survives_a_failure() {
    let toy = studio(Some("ok"));
    ends(&flame(&toy, &["toy"]), 0);
    let html = page(&toy, "toy");
    // A server that dies is an error, and the page stays as it was.
    edit_the_case(&toy, "args = [", "args = [\"--die-at-request\", \"2000\", ");
    fails(&flame(&toy, &["toy"]), 2, "out of memory, says the stand-in");
    has(&toy, "toy", &FILES, &[]);
    assert_eq!(page(&toy, "toy"), html);
}

/// The arguments as a comment, then the stacks.
const DRAWS: &str =
    "#!/bin/sh\necho \"<svg height=\\\"90\\\"><!-- $* -->\"; cat; echo \"</svg>\"\n";

#[test]
fn the_page_shows_the_standard_flame_graphs_of_both_on_one_scale() {
    let toy = studio(Some("ok"));
    toy.program("target/bin/lab-flamegraph", DRAWS);
    let output = flame(&toy, &["toy"]);
    ends(&output, 0);
    assert!(!stderr(&output).contains("lab-flamegraph"), "{}", stderr(&output));
    let html = page(&toy, "toy");
    let drawn = ["slow", "fixed"].map(|server| {
        let svg = toy.read(&format!("{PAGES}/toy/{server}.raw.svg"));
        assert!(svg.contains(&format!("--title toy, {server} --subtitle ")), "{svg}");
        assert!(toy.read(&format!("{PAGES}/toy/{server}.folded")).contains("server::work 300"));
        assert!(html.contains(&format!("data=\"{server}.raw.svg\"")), "{html}");
        assert!(html.contains(&format!("href=\"{server}.svg\">with short names")), "{html}");
        svg
    });
    // The scale is the larger of the two costs; in this toy, either may be.
    let number = |svg: &str, before: &str| -> u64 {
        let (_, number) = svg.split_once(before).unwrap();
        number.split([' ', '\n']).next().unwrap().parse().unwrap()
    };
    let scales = drawn.each_ref().map(|svg| number(svg, "--scale "));
    let costs = drawn.each_ref().map(|svg| number(svg, "clone3;server::work "));
    assert_eq!(scales, [*costs.iter().max().unwrap(); 2]);
    std::fs::remove_dir_all(toy.path("target/lab/flame")).unwrap();

    // Your own servers: one, and then two builds of it.
    let command = "target/bin/toy-slow --port {port}";
    let name = "toy-slow-7f7c";
    let one = [&["--exec", command, "--get", "/"], &CALM[..]].concat();
    ends(&flame(&toy, &one), 0);
    let svg = toy.read(&format!("{PAGES}/{name}/raw.svg"));
    assert!(svg.contains("clone3;server::work "), "{svg}");
    assert!(page(&toy, name).contains("data=\"raw.svg\""));
    ends(&flame(&toy, &[&one[..], &["--exec", command]].concat()), 0);
    let files = ["baseline.svg", "candidate.svg", "diff.svg", "baseline.threads.svg"];
    has(&toy, name, &files, &[]);
}

#[test]
fn a_standard_flame_graph_that_cannot_be_drawn_costs_nothing_else() {
    let toy = studio(Some("ok"));
    toy.copy_the_case("crates/other");
    let output = flame(&toy, &["toy", "other"]);
    ends(&output, 0);
    let advice = stderr(&output).matches("cargo install --path crates/lab/flamegraph").count();
    assert_eq!(advice, 1, "{}", stderr(&output));

    let program = "#!/bin/sh\necho 'error: out of paint' >&2; exit 1\n";
    toy.program("target/bin/lab-flamegraph", program);
    ends(&flame(&toy, &["toy"]), 0);
    let html = page(&toy, "toy");
    assert!(html.contains("No standard flame graph of slow: ") && html.contains("out of paint"));
    assert!(html.contains("data=\"slow.svg\"") && !html.contains("slow.raw.svg"));
}

#[test]
fn without_any_profiler_there_is_a_page_a_notice_and_success() {
    let toy = studio(None);
    let output = flame(&toy, &["toy"]);
    ends(&output, 0);
    // Pictures of threads need no profiler, only a system that shows them.
    let others = ["slow.svg", "fixed.svg", "diff.svg", ".folded"];
    has(&toy, "toy", &["index.html", "meta.json"], &others);
    let meta = meta(&toy);
    assert_eq!(meta["variants"]["slow"]["profiler"], "none");
    let notes = meta["notes"].to_string();
    assert!(notes.contains("perf") && notes.contains("missing"), "{notes}");
    prints(&output, " slow CPU: ");
}

#[test]
fn a_profiler_that_fails_for_one_server_is_dropped_for_both() {
    let toy = studio(Some("denied-at-attach"));
    let output = flame(&toy, &["toy"]);
    ends(&output, 0);
    let meta = meta(&toy);
    let used = ["slow", "fixed"].map(|variant| meta["variants"][variant]["profiler"].clone());
    assert_eq!(used[0], used[1], "{meta}");
    says(&output, "note: perf, with kernel frames: ");
}

/// Whether a tail is seen depends on the machine. Where one is, all places say the same of it.
#[test]
fn the_slowest_of_random_arrivals_are_on_the_screen_the_page_and_in_the_figures() {
    let toy = Toy::new(&["--stall-ms", "300"]);
    let output = toy.run(&["flame", "--seconds", "4", "--profiler", "none", "toy"]);
    ends(&output, 0);
    let (html, meta) = (page(&toy, "toy"), meta(&toy));
    for variant in ["slow", "fixed"] {
        let found = &meta["variants"][variant];
        // A machine may be too slow for random arrivals.
        let Some(rate) = found["slowest"]["rate_per_s"].as_f64() else { continue };
        assert!(rate > 0.0 && html.contains("Why the slowest requests are slow"), "{html}");
        let tail = &found["slowest"]["tail"];
        if let Some(why) = found["why_slowest"].as_str() {
            prints(&output, &format!("tail: {why}"));
            assert!(why.contains(" random arrivals per second. While the slowest "), "{why}");
            assert!(tail["times"].as_u64() >= Some(3) || !tail["held"].is_null(), "{meta}");
        } else {
            assert!(tail.is_null() && html.contains(" random arrivals per second: "), "{meta}");
        }
        if let Some(low) = tail["difference"]["low"].as_f64() {
            assert!(low > 0.0, "{meta}");
        }
    }
}

#[test]
fn the_spans_of_the_random_arrivals_are_not_those_of_the_recording() {
    let toy = Toy::new(&[]);
    let command = "target/bin/toy-slow --port {port} --stall-ms 300 --trace trace.json";
    let own = ["flame", "--seconds", "4", "--profiler", "none", "--exec", command, "--get=/"];
    let output = toy.run(&[&own[..], &["--spans", "trace.json"], &CALM[..]].concat());
    ends(&output, 0);
    let dir = toy.files(PAGES).remove(0);
    let meta = toy.read(&format!("{PAGES}/{dir}/meta.json"));
    let meta: Value = serde_json::from_str(&meta).unwrap();
    let html = page(&toy, &dir);
    assert!(html.contains("Requests over time") && html.contains("What a request waits for"));
    let server = &meta["variants"]["server"];
    let spans = &server["slowest"]["spans"];
    // Nothing is said of them without a tail, which depends on the machine.
    let Some(of) = spans["of"].as_u64() else { return };
    let rate = server["slowest"]["rate_per_s"].as_f64().unwrap();
    // In four seconds. The recording has twice as many each second, and is longer.
    assert!((of as f64) < 8.0 * rate, "{meta}");
    let shares = spans["shares"].as_array().into_iter().flatten();
    for share in shares {
        assert!(["stall", "request"].contains(&share["name"].as_str().unwrap()), "{meta}");
        prints(&output, &format!("`{}`", share["name"].as_str().unwrap()));
    }
}

#[test]
fn ctrl_c_leaves_no_server_no_profiler_and_no_page() {
    let toy = studio(Some("ok"));
    let all = std::cell::RefCell::new(Vec::new());
    // The profiler starts after the warm-up and creates its file at once.
    let is_recorded = |lab| {
        all.replace(pids(lab));
        let made = toy.files(PAGES).into_iter().flat_map(|it| toy.files(&format!("{PAGES}/{it}")));
        made.into_iter().any(|file| file.ends_with("perf.data"))
    };
    let output = interrupt(&mut lab(&toy, "60", &["toy"]), Signal::SIGINT, is_recorded);
    ends(&output, 130);
    assert!(!all.borrow().iter().any(|pid| is_alive(*pid)), "the servers and the profiler ended");
    assert!(toy.files(PAGES).is_empty());
}

#[test]
fn what_cannot_be_drawn_is_reported_at_once() {
    let toy = studio(Some("ok"));
    for (args, message) in [
        (&["tox"][..], "did you mean `toy`?"),
        (&["--exec", "a"], "there is no request: give --get"),
        (&["--exec", "a", "--exec", "b", "--exec", "c", "--get", "/"], "--exec is given 3 times"),
        (&["toy", "--exec", "a"], "cannot be used with"),
        (&["toy", "--spans", "trace.json"], "cannot be used with"),
        (&["--spans", "trace.json"], "--exec <CMD>"),
    ] {
        fails(&flame(&toy, args), 2, message);
    }
    fails(&lab(&toy, "0", &["toy"]).output().unwrap(), 2, "0 is not in 1..=60");
    assert!(toy.started().is_empty());
}

#[test]
#[ignore = "needs heaptrack; `.ci/build practice-test` runs it"]
fn the_stacks_that_keep_memory_are_named_with_what_each_request_leaves() {
    let toy = Toy::new(&[]);
    let command = "target/bin/toy-slow --port {port} --keep 4";
    let own = ["flame", "--seconds", "1", "--exec", command, "--get=/", "--allocations"];
    let output = toy.run(&[&own[..], &["--profiler", "none"], &CALM[..]].concat());
    ends(&output, 0);
    // How many bytes depends on when the load began, in a window of a second. Names need no line tables.
    prints(&output, "kB per request; recording that took ");
    prints(&output, "kB per request (100 %): from_elem ← lab_stand_in::serve");
    let dirs = toy.files(PAGES);
    assert!(page(&toy, &dirs[0]).contains("Memory that stays"));
}

#[test]
fn a_runtime_with_a_heap_of_its_own_is_refused_with_its_tool() {
    let toy = studio(None);
    toy.program("programs/node", "#!/bin/sh\nexit 1\n");
    let own = ["--exec", "node server.js", "--get=/", "--allocations"];
    let output = flame(&toy, &own);
    fails(&output, 2, "Node has a heap of its own, which `heaptrack` does not see; its tool: ");
    let own = ["--exec", "target/bin/toy-slow", "--get=/", "--allocations"];
    fails(&flame(&toy, &own), 2, "`heaptrack` is missing; fix: apt install heaptrack");
    assert!(toy.started().is_empty());
}

#[test]
fn each_request_of_a_visit_has_its_cpu_time_from_a_load_of_it_alone() {
    let toy = studio(None);
    let works = server(&toy, "--work-at /report");
    let requests = ["--get=/", "--get=/report", "--get=/news"];
    let output = flame(&toy, &[&["--exec", &works][..], &requests, &CALM].concat());
    ends(&output, 0);
    let dirs = toy.files(PAGES);
    let meta: Value =
        serde_json::from_str(&toy.read(&format!("{PAGES}/{}/meta.json", dirs[0]))).unwrap();
    let server = &meta["variants"]["server"];
    let routes = server["routes"].as_array().unwrap();
    let costs: Vec<_> =
        routes.iter().filter_map(|route| route["cpu_us_per_request"].as_f64()).collect();
    // A machine that is so busy may answer too few of one request in a moment.
    let is_slow = server["requests"].as_u64() < Some(500);
    if costs.len() < 3 && is_slow {
        return;
    }
    assert_eq!((&routes[0]["request"], costs.len()), (&"GET /report".into(), 3), "{meta:#}");
    assert!(costs[0] > 2.0 * costs[1] && costs[1] >= costs[2], "{costs:?}");
    let shares: f64 = routes.iter().map(|route| route["cpu_share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{routes:?}");
    prints(&output, "request CPU/req of CPU p50 p99 of time GET /report");
    prints(&output, "each request alone, because the CPU time of a mixture can't be split");
    assert!(page(&toy, &dirs[0]).contains("What each request costs"));
}

#[test]
fn requests_that_keep_something_of_an_answer_are_never_alone() {
    let toy = studio(None);
    let requests = "[[request]]\npath = \"/a\"\nkeep = { it = \"header content-length\" }\n\
                    [[request]]\npath = \"/b\"\n";
    toy.write("requests.toml", requests);
    let server = server(&toy, "");
    let output =
        flame(&toy, &[&["--exec", &server, "--requests=requests.toml"][..], &CALM].concat());
    ends(&output, 0);
    let dirs = toy.files(PAGES);
    assert!(toy.read(&format!("{PAGES}/{}/meta.json", dirs[0])).contains("\"routes\": []"));
    prints(&output, "time of a visit: GET /");
}
