//! `lab flame` from outside, with a `perf` that does what a test asks of it.

use std::{
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
};

use serde_json::Value;

use crate::toy::{CALM, Signal, Toy, ends, fails, says, send, stderr, wait_until};

/// A toy workspace, and a `perf` that behaves like this; without a mode there is none.
struct Studio {
    toy: Toy,
    path: String,
}

impl Studio {
    fn new(args: &[&str], mode: Option<&str>) -> Self {
        let toy = Toy::new(args);
        let case = toy.path("crates/toy/case.toml");
        let text = std::fs::read_to_string(&case).unwrap();
        std::fs::write(&case, text.replace("users = 3", "users = 3, think_ms = 2")).unwrap();
        let bin = toy.path("fake-bin");
        std::fs::create_dir_all(&bin).unwrap();
        if let Some(mode) = mode {
            let script = "../profile/tests/fake_perf.sh";
            symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join(script), bin.join("perf")).unwrap();
            std::fs::write(bin.join("perf.mode"), mode).unwrap();
        }
        // What the scripts need, and nothing that would profile.
        for tool in ["sh", "cat", "dirname", "kill"] {
            let found = ["/bin", "/usr/bin"].map(|dir| Path::new(dir).join(tool));
            if let Some(found) = found.iter().find(|path| path.exists()) {
                symlink(found, bin.join(tool)).unwrap();
            }
        }
        let path = bin.display().to_string();
        Self { toy, path }
    }

    fn add_flamegraph(&self, commands: &str) {
        let path = self.toy.path("target/bin/lab-flamegraph");
        std::fs::write(&path, format!("#!/bin/sh\n{commands}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn lab(&self, args: &[&str]) -> Command {
        let short: &[&str] = if args.contains(&"--seconds") { &[] } else { &["--seconds", "1"] };
        let mut lab = self.toy.lab(&[&["flame"], short, args].concat());
        lab.env("PATH", &self.path);
        lab
    }

    fn files(&self, page: &str) -> Vec<String> {
        let dir = self.toy.path("target/lab/flame").join(page);
        let Ok(entries) = dir.read_dir() else { return Vec::new() };
        let mut files: Vec<_> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        files
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.toy.path("target/lab/flame").join(file)).unwrap()
    }

    fn meta(&self, page: &str) -> Value {
        serde_json::from_str(&self.read(&format!("{page}/meta.json"))).unwrap()
    }
}

#[test]
fn a_page_has_its_pictures_and_stacks_and_survives_a_failure() {
    let studio = Studio::new(&[], Some("ok"));
    let output = studio.lab(&["toy"]).output().unwrap();
    ends(&output, 0);
    let files = studio.files("toy");
    for file in ["index.html", "meta.json", "slow.svg", "fixed.svg", "diff.svg", "slow.folded"] {
        assert!(files.contains(&file.to_owned()), "{file} is not in {files:?}");
    }
    assert!(!files.iter().any(|file| file.ends_with("perf.data")), "{files:?}");
    assert_eq!(studio.files("").len(), 1, "{:?}", studio.files(""));

    let meta = studio.meta("toy");
    for variant in ["slow", "fixed"] {
        let found = &meta["variants"][variant];
        assert_eq!(found["profiler"], "perf-with-kernel", "{meta}");
        assert_eq!((&found["samples"], &found["rooted_share"]), (&300.into(), &1.0.into()));
        assert!(found["requests"].as_u64().unwrap() > 0, "{meta}");
        assert!(found["cpu_agreement"].is_number(), "{meta}");
    }
    let page = studio.read("toy/index.html");
    assert!(page.contains("data=\"slow.svg\"") && page.contains("Does it answer?"));
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(found.contains("target/lab/flame/toy/index.html"), "{found}");
    assert!(found.contains("perf, with kernel frames"), "{found}");
    studio.toy.wait_until_all_servers_ended();

    // A server that dies is an error, and the page stays as it was.
    let case = studio.toy.path("crates/toy/case.toml");
    let text = std::fs::read_to_string(&case).unwrap();
    let dying = text.replace("args = [", "args = [\"--die-at-request\", \"2000\", ");
    std::fs::write(&case, dying).unwrap();
    fails(&studio.lab(&["toy"]).output().unwrap(), 1, "out of memory, says the stand-in");
    assert_eq!(studio.files("toy"), files);
    assert_eq!(studio.files("").len(), 1, "{:?}", studio.files(""));
}

/// The arguments as a comment, then the stacks.
const DRAWS: &str = "echo \"<svg><!-- $* -->\"; cat; echo \"</svg>\"";

#[test]
fn every_cpu_graph_links_to_the_standard_flame_graph() {
    let studio = Studio::new(&[], Some("ok"));
    studio.add_flamegraph(DRAWS);
    let output = studio.lab(&["toy"]).output().unwrap();
    ends(&output, 0);
    assert!(!stderr(&output).contains("lab-flamegraph"), "{}", stderr(&output));
    let page = studio.read("toy/index.html");
    for server in ["slow", "fixed"] {
        let svg = studio.read(&format!("toy/{server}.raw.svg"));
        let title = format!("--title toy, {server}: all samples as recorded");
        assert!(svg.contains(&title) && svg.contains("clone3;server::work 300"), "{svg}");
        let link = format!("href=\"{server}.raw.svg\">The standard flame graph, drawn by");
        assert!(page.contains(&link), "{page}");
    }

    // Your own servers: one, and then two builds of it.
    let command = "target/bin/toy-slow --port {port}";
    let page = "target-bin-toy-slow-port-port";
    let one = [&["--exec", command, "--get", "/"], &CALM[..]].concat();
    let output = studio.lab(&one).output().unwrap();
    ends(&output, 0);
    assert!(studio.read(&format!("{page}/raw.svg")).contains("clone3;server::work 300"));
    let html = studio.read(&format!("{page}/index.html"));
    assert!(html.contains("href=\"raw.svg\">The standard flame graph"), "{html}");
    ends(&studio.lab(&[&one[..], &["--exec", command]].concat()).output().unwrap(), 0);
    let files = studio.files(page);
    for file in ["baseline.svg", "candidate.svg", "diff.svg", "baseline.threads.svg"] {
        assert!(files.contains(&file.to_owned()), "{file} is not in {files:?}");
    }
}

#[test]
fn without_lab_flamegraph_a_line_says_how_to_get_it_and_nothing_links_to_it() {
    let studio = Studio::new(&[], Some("ok"));
    studio.toy.copy_the_case("other");
    let output = studio.lab(&["toy", "other"]).output().unwrap();
    ends(&output, 0);
    let said = stderr(&output).matches("cargo install --path crates/lab/flamegraph").count();
    assert_eq!(said, 1, "{}", stderr(&output));
    assert!(!studio.files("toy").iter().any(|file| file.ends_with("raw.svg")));
    assert!(!studio.read("toy/index.html").contains("The standard flame graph"));

    // One that fails costs its picture and nothing else.
    studio.add_flamegraph("echo 'error: out of paint' >&2; exit 1");
    ends(&studio.lab(&["toy"]).output().unwrap(), 0);
    let page = studio.read("toy/index.html");
    assert!(page.contains("no standard flame graph of slow: ") && page.contains("out of paint"));
    assert!(page.contains("data=\"slow.svg\"") && !page.contains("slow.raw.svg"));
}

#[test]
fn without_any_profiler_there_is_a_page_a_notice_and_success() {
    let studio = Studio::new(&[], None);
    let output = studio.lab(&["toy"]).output().unwrap();
    ends(&output, 0);
    let mut files = studio.files("toy");
    // They need no profiler, only a system that shows them.
    files.retain(|file| !file.ends_with(".threads.svg"));
    assert_eq!(files, ["index.html", "meta.json"]);
    assert_eq!(studio.meta("toy")["variants"]["slow"]["profiler"], "none");
    let notices = studio.meta("toy")["notices"].to_string();
    assert!(notices.contains("perf") && notices.contains("missing"), "{notices}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("CPU time per request"));
}

#[test]
fn a_profiler_that_fails_for_one_server_is_dropped_for_both() {
    let studio = Studio::new(&[], Some("denied-at-attach"));
    let output = studio.lab(&["toy"]).output().unwrap();
    ends(&output, 0);
    let meta = studio.meta("toy");
    let used = ["slow", "fixed"].map(|variant| meta["variants"][variant]["profiler"].clone());
    assert_eq!(used[0], used[1], "{meta}");
    says(&output, "note: perf, with kernel frames: ");
    studio.toy.wait_until_all_servers_ended();
}

#[test]
fn ctrl_c_leaves_no_server_no_profiler_and_no_page() {
    let studio = Studio::new(&[], Some("ok"));
    let mut lab = studio.lab(&["toy", "--seconds", "60"]).spawn().unwrap();
    studio.toy.wait_for_a_server();
    // The profiler starts after the warm-up and creates its file at once.
    let making = || {
        studio
            .files("")
            .iter()
            .any(|name| studio.files(name).iter().any(|file| file.ends_with("perf.data")))
    };
    wait_until("the profiler has begun", making);
    send(Signal::SIGINT, lab.id());
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    studio.toy.wait_until_all_servers_ended();
    wait_until("nothing is left", || studio.files("").is_empty());
    wait_until("the profiler has ended", || {
        let mut processes = Path::new("/proc").read_dir().unwrap().flatten();
        let ours = studio.path.as_bytes();
        !processes.any(|process| {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            line.windows(ours.len()).any(|part| part == ours)
        })
    });
}

#[test]
fn what_cannot_be_drawn_is_reported_at_once() {
    let studio = Studio::new(&[], Some("ok"));
    for (args, message) in [
        (&["tox"][..], "did you mean `toy`?"),
        (&["toy", "--seconds", "0"], "0 is not in 1..=60"),
        (&["--exec", "a"], "there is no request: give --get"),
        (&["--exec", "a", "--exec", "b", "--exec", "c", "--get", "/"], "--exec is given 3 times"),
        (&["toy", "--exec", "a"], "cannot be used with"),
        (&["toy", "--spans", "trace.json"], "cannot be used with"),
        (&["--spans", "trace.json"], "--exec <CMD>"),
    ] {
        let output = studio.lab(args).output().unwrap();
        assert!(!output.status.success(), "{args:?}");
        says(&output, message);
    }
    assert!(studio.toy.started().is_empty());
}
