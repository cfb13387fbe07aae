use std::time::Duration;

use lab_observation::{
    Folded, Heap, Kernel, Profiler, Recording, SlowestRequests, SpanCause, SpanShare, SpanTail,
    ThreadStates, View, Window,
};
use lab_protocol::Note;
use lab_system::Build;

use super::{
    super::example::{self, thread},
    *,
};

const PERF: Profiler = Profiler { name: "perf", label: "perf", kernel: Kernel::Frames };
const SLOW: &str = "clone3;toy::slow::work;malloc 600\nclone3;toy::slow::work 300\n";
const FIXED: &str = "clone3;toy::fixed::work 100\n";

fn topic(exhibits: &[Exhibit]) -> Topic {
    Topic {
        name: "toy".to_owned(),
        title: "A <b>".to_owned(),
        question: "Why?".to_owned(),
        exhibits: exhibits.to_vec(),
        servers: ["slow", "fixed"].map(str::to_owned).to_vec(),
        load: "1 user".to_owned(),
        build: Build::unknown(),
        instrumented: true,
        view: View {
            crates: vec!["toy".to_owned()],
            variants: ["slow", "fixed"].map(str::to_owned).to_vec(),
        },
        spans: example::kinds(),
        commands: vec!["just flame toy".to_owned()],
    }
}

fn observations() -> Observations {
    let second = Duration::from_secs(1);
    let window = Window { length: second, system_cpu: Some(second) };
    let observation = |name: &str, stacks: &str, spans| Observation {
        name: name.to_owned(),
        recording: Some(Recording::new(PERF, stacks.parse().unwrap(), window)),
        measured: second,
        answered: 1000,
        requests: Vec::new(),
        routes: Vec::new(),
        cpu: Some(second),
        spans: Some(spans),
        threads: Some(ThreadStates {
            window: second,
            looks: 4,
            threads: vec![thread("worker", "ddrf")],
            ..ThreadStates::default()
        }),
        slowest: None,
    };
    let heap = |stacks: &str| Heap { stacks: stacks.parse::<Folded>().unwrap(), samples: 9 };
    Observations {
        profiler: PERF,
        servers: vec![
            observation("slow", SLOW, example::slow_spans()),
            observation("fixed", FIXED, example::fixed_spans()),
        ],
        heaps: vec![heap(SLOW), heap(FIXED)],
        kept: Vec::new(),
        notes: vec![Note::Sentence("few samples".to_owned())],
    }
}

fn drawn(exhibits: &[Exhibit]) -> (PicturePage, Output, tempfile::TempDir) {
    draw(&topic(exhibits), &observations())
}

fn draw(topic: &Topic, all: &Observations) -> (PicturePage, Output, tempfile::TempDir) {
    draw_with(topic, all, None)
}

fn draw_with(
    topic: &Topic,
    all: &Observations,
    flamegraph: Option<&Path>,
) -> (PicturePage, Output, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let output = Output::begin(dir.path().join("toy")).unwrap();
    (draw_page(topic, all, &output, flamegraph).unwrap(), output, dir)
}

/// A program that draws its arguments and its input.
fn painter(dir: &Path) -> std::path::PathBuf {
    let program = dir.join("painter");
    let script = "#!/bin/sh\necho \"<svg height=\\\"90\\\"><!-- $* -->\"; cat; echo \"</svg>\"\n";
    std::fs::write(&program, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).unwrap();
    program
}

#[test]
fn every_exhibit_becomes_a_section_with_its_files() {
    use Exhibit::{Allocations, Cpu, Differential, Threads, Timeline, Waits};
    let (page, output, _dir) = drawn(&[Timeline, Waits, Threads, Cpu, Allocations, Differential]);
    assert_eq!(page.sections.len(), 6);
    let files = ["slow.folded", "fixed.folded", "slow.per-request.folded", "slow.waits.folded"];
    for name in files {
        assert!(page.files.contains(&name.to_owned()), "{name} is not in {:?}", page.files);
    }
    let html = page.html();
    for name in ["slow.svg", "fixed.svg", "diff.svg", "slow.waits.svg", "slow.allocations.svg"] {
        assert!(html.contains(&format!("data=\"{name}\"")), "{name}");
        assert!(output.dir().join(name).is_file(), "{name}");
        assert!(!page.files.contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn a_page_needs_nothing_but_its_pictures() {
    use Exhibit::{Allocations, Cpu, Differential, Threads, Timeline, Waits};
    let (page, ..) = drawn(&[Timeline, Waits, Threads, Cpu, Allocations, Differential]);
    let html = page.html();
    let html = html.replace(r#"xmlns="http://www.w3.org/2000/svg""#, "");
    assert!(!html.contains("http:") && !html.contains("https:"), "{html}");
    assert!(!html.contains("<script") && !html.contains("url(") && !html.contains("@import"));
    assert!(html.contains("A &lt;b&gt;") && !html.contains("<b>"));
}

#[test]
fn stacks_become_time_per_request_in_the_build() {
    let (page, output, _dir) = drawn(&[Exhibit::Cpu]);
    let slow = std::fs::read_to_string(output.dir().join("slow.per-request.folded")).unwrap();
    assert_eq!(slow, "work 333333\nwork;malloc 666667\n");
    let lead = &page.sections[0].lead;
    assert!(lead.starts_with("In this instrumented build, a request costs 1.00 ms"), "{lead}");
    assert!(!lead.contains('×'), "{lead}");
    assert_eq!(page.sections[0].tables[0].rows[0], ["work", "1.00 ms", "100.0 %", "333 µs"]);
}

#[test]
fn standard_graphs_count_time_per_request_on_one_scale_and_stand_in_for_ours() {
    let dir = tempfile::tempdir().unwrap();
    let program = painter(dir.path());
    let mut all = observations();
    // A tenth of the CPU time for the same work.
    all.servers[1].cpu = Some(Duration::from_millis(100));
    let exhibits = [Exhibit::Timeline, Exhibit::Cpu, Exhibit::Threads];
    let (page, output, _dir) = draw_with(&topic(&exhibits), &all, Some(&program));
    let headings = page.sections.iter().map(|section| section.heading.as_str());
    let order = ["CPU time per request", "Requests over time", "What the threads did"];
    assert_eq!(headings.collect::<Vec<_>>(), order);
    let drawn = |server: &str| {
        std::fs::read_to_string(output.dir().join(format!("{server}.raw.svg"))).unwrap()
    };
    let slow = "clone3;toy::slow::work 333333\nclone3;toy::slow::work;malloc 666667\n</svg>\n";
    assert!(drawn("slow").ends_with(slow), "{}", drawn("slow"));
    assert!(drawn("fixed").ends_with("clone3;toy::fixed::work 100000\n</svg>\n"));
    for (server, rest) in [("slow", "added by the fix"), ("fixed", "saved by the fix")] {
        assert!(drawn(server).contains("--count-name ns per request --min-width 0.0"));
        let scale = format!(" --scale 1000000 --rest {rest} -->");
        assert!(drawn(server).contains(&scale), "{}", drawn(server));
        assert!(page.files.contains(&format!("{server}.raw.svg")), "{:?}", page.files);
    }
    let html = page.html();
    let pair = html.split_once("<div class=\"pair\">").unwrap().1;
    assert_eq!(pair.matches("style=\"height:90px\"").count(), 2, "{html}");
    assert!(pair.contains("data=\"fixed.raw.svg\"") && pair.contains("href=\"fixed.svg\""));
    assert!(!html.contains("data=\"fixed.svg\"") && output.dir().join("fixed.svg").is_file());
}

/// The requests of `slow` wait for as long as it is watched.
#[test]
fn a_mean_that_the_recording_cuts_off_is_a_bound_and_has_no_factor() {
    let (page, ..) = drawn(&[Exhibit::Waits]);
    let lead = &page.sections[0].lead;
    assert!(lead.contains("took at least ") && lead.contains(" in slow and 51"), "{lead}");
    assert!(!lead.contains('×') && !lead.contains("less"), "{lead}");
}

#[test]
fn without_a_profiler_there_is_the_systems_count() {
    let mut all = observations();
    all.servers.iter_mut().for_each(|it| it.recording = None);
    let (page, ..) = draw(&topic(&[Exhibit::Cpu, Exhibit::Differential]), &all);
    assert_eq!(page.sections.len(), 1);
    assert_eq!(page.sections[0].tables[0].rows[0], ["slow", "1,000", "1.00 ms"]);
    assert_eq!(page.files, ["meta.json"]);
}

#[test]
fn a_page_says_of_each_server_why_its_slowest_requests_are_slow() {
    let (mut topic, mut all) = (topic(&[Exhibit::Cpu]), observations());
    topic.spans.clear();
    let (page, ..) = draw(&topic, &all);
    assert!(!page.html().contains("Why the slowest"));
    let share = SpanShare {
        name: "lock <wait>".to_owned(),
        is_request: false,
        share: 0.97,
        low: 0.95,
        high: 0.99,
    };
    let cause = SpanCause::Spans { more_ms: 31.0, times: 12, shares: vec![share] };
    let spans = SpanTail { slow: 60, of: 6_000, from_ms: 25.0, cause };
    let none = SlowestRequests {
        rate_per_s: 1_000.0,
        p50_ms: Some(0.2),
        p99_ms: Some(0.4),
        ..SlowestRequests::default()
    };
    let slow = SlowestRequests { p99_ms: Some(25.0), spans: Some(spans), ..none.clone() };
    all.servers[0].slowest = Some(slow);
    all.servers[1].slowest = Some(none);
    let (page, ..) = draw(&topic, &all);
    let html = page.html();
    assert!(html.contains("Why the slowest requests are slow</h2>"), "{html}");
    assert!(html.contains("<p>slow: p50 200 µs, p99 25.0 ms with 1,000 random arrivals"), "{html}");
    assert!(html.contains("<code>lock &lt;wait&gt;</code> is 97 % (95 to 99 %)."), "{html}");
    assert!(html.contains(
        "<p>fixed: p50 200 µs, p99 400 µs with 1,000 random arrivals per second: no tail"
    ));
    let meta = crate::meta(&topic, &all);
    let [slow, fixed] = ["slow", "fixed"].map(|server| &meta["variants"][server]);
    assert_eq!(slow["slowest"]["spans"]["shares"][0]["name"], "lock <wait>");
    assert!(
        slow["why_slowest"].as_str().unwrap().contains("97 %") && fixed["why_slowest"].is_null()
    );
}
