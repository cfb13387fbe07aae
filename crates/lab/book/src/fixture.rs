//! A workspace with one case, one small record and nothing else, for tests.

use std::path::Path;

use lab_cases::Workspace;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::book::{Book, CHAPTERS, Page, Spliced, splice};

const CASE: &str = r#"
title = "t"
question = "q"
variants = ["slow", "no-clone", "fixed"]
args = ["--downstream-ms", "50", "--name", "x"]
load = { users = 3000, think_ms = 500 }
[[request]]
path = "/"
answer = "6"
[sweep.sweep-toy]
title = "A sweep"
parameter = "requests at once"
time = "time per request"
[removes]
fixed = ["lock held", "parse"]
"#;

const COUNTS: &str = "[slow]\nallocations = 30013\nupstream.tcp_connections = 19\n\
                      [no-clone]\nallocations = 15000\n[fixed]\nallocations = 13\n";

const DRILL: &str = r#"
sources = ["docs/replications/locust-toy.json"]
more = "README.md"
right = 2
[figures]
ratio = '<!-- lab: replications.locust_toy.ratio -->66.4<!-- /lab -->'
[table]
en = ["run", "ratio"]
zh = ["运行", "比值"]
rows = [['first // 第一次', '{ratio}']]
[en]
shown = "It was {ratio}."
question = "Why?"
answers = ["a", "b", "c", "d"]
because = ["e", "f", "g", "h"]
[zh]
shown = "是 {ratio}。"
question = "为什么？"
answers = ["甲", "乙", "丙", "丁"]
because = ["一", "二", "三", "四"]
"#;

/// The workspace; it goes when this is dropped.
pub struct Fixture {
    dir: TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        let fixture = Self { dir: tempfile::tempdir().unwrap() };
        fixture.write("crates/toy/case.toml", CASE);
        fixture.write(
            "Cargo.toml",
            "[workspace.package]\nrepository = \"https://toy.example/it\"\nlicense = \"MIT\"\n",
        );
        fixture.write("docs/zh-CN/screen.toml", "[compare]\n\"claim\" = \"结论\"\n");
        fixture.write("crates/toy/counts.toml", COUNTS);
        fixture.write("crates/toy/src/slow.rs", "//! Slow.\n\nfn read() {\n    wait();\n}\n");
        fixture.write("crates/toy/src/fixed.rs", "//! Fixed.\n\nfn read() {}\n");
        fixture.write("docs/src/README.md", "# T\n");
        let rules = [("It fails", "fault_share"), ("It computes", "json_cpu_share")];
        let rules = rules.map(|(title, explains)| {
            format!("[[rule]]\ntitle = \"{title}\"\nexplains = \"{explains}\"\n")
        });
        fixture.write("crates/lab/triage/src/rules.toml", &rules.concat());
        let page = "# Case 4: the toy\n\n| time | 9 minutes to read, 7 for the commands |\n\n<!-- card -->\n| | |\n|---|---|\n| Trap | [it](toy.md) |\n<!-- /card -->\n";
        fixture.write("docs/src/cases/toy.md", page);
        fixture.write("docs/record/2026-01-01-a/record.json", "an older one, that nobody reads");
        let newest = |file: &str| format!("docs/record/2026-11-21-a/{file}");
        fixture.write(&newest("record.json"), &record(280.0).to_string());
        fixture.write(&newest("benches.json"), &benches().to_string());
        let tables = json!({ "load": {
            "head": ["", "req/s"], "rows": [["slow", "19.5"], ["fixed", "1,294"]],
            "origin": "Made by `just replicate locust toy`.",
        } });
        let replication = json!({ "ratio": 66.4, "tables": tables });
        fixture.write("docs/replications/locust-toy.json", &replication.to_string());
        fixture.write("docs/drills/01-toy.toml", DRILL);
        let flame = |file: &str| newest(&format!("flame/toy/{file}"));
        for (name, height) in [("slow.svg", 90), ("fixed.svg", 60)] {
            fixture.write(&flame(name), &format!("<svg width=\"1200\" height=\"{height}\"></svg>"));
        }
        fixture.write(&flame("meta.json"), &meta().to_string());
        let folded = "request 10000\nrequest;parse;kernel 30000\nrequest;lock held 60000\n";
        fixture.write(&flame("slow.per-request.folded"), folded);
        fixture.write(&flame("fixed.per-request.folded"), "request 10000\nrequest;parse 6000\n");
        fixture.write(&flame("slow.allocations.folded"), "http 1000\nread;a|b 3000\n");
        fixture
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.path().join(path)).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn workspace(&self) -> Workspace {
        let bin_dir = self.path().join("target/bin");
        Workspace::find(Some(self.path()), Some(&bin_dir)).unwrap()
    }

    pub fn book(&self) -> Book {
        Book::of(&self.workspace()).unwrap()
    }

    /// Splices a text as `docs/src/README.md`.
    pub fn splice(&self, text: &str) -> Spliced {
        let book = self.book();
        let name = format!("{CHAPTERS}/README.md");
        let page = Page { path: book.root.join(&name), name, text: text.to_owned() };
        splice(&page, &book)
    }

    /// The value of an expression, or why it has none.
    pub fn eval(&self, expression: &str) -> Result<String, String> {
        let book = self.book();
        let made = book.eval(expression, &book.root.join(CHAPTERS));
        made.map_err(|error| format!("{error:#}"))
    }
}

/// A record of the case `toy`, made from a published record of `lock-scope`. `factor` is the factor of its fix.
pub fn record(factor: f64) -> Value {
    let record = include_str!("../../report/tests/fixtures/record.json");
    let mut record: Value = serde_json::from_str(record).unwrap();
    let cases = record["cases"].as_array_mut().unwrap();
    cases.retain(|case| case["case"] == "lock-scope");
    let toy = &mut cases[0];
    toy["case"] = "toy".into();
    let factor = json!({ "estimate": factor, "low": factor - 1.0, "high": factor + 2.0, "confidence": 0.952 });
    toy["variants"][1]["speedup"]["throughput"] = factor.clone();
    toy["variants"][1]["open_loop"]["invalid"] = "the generator was late".into();
    toy["speedup"]["throughput"] = factor;
    record
}

fn benches() -> Value {
    let bench = |name: &str, parameter: Option<&str>, ns: f64| {
        json!({ "group": if parameter.is_some() { "sweep-toy" } else { "alternatives-toy" }, "name": name,
                "parameter": parameter, "ns": ns, "low_ns": 0.9 * ns, "high_ns": 1.1 * ns })
    };
    let benches = [
        bench("mutex", None, 1910.0),
        bench("rwlock", None, 779.0),
        bench("slow", Some("50"), 2e6),
        bench("fixed", Some("50"), 1e6),
    ];
    json!({ "made": "cargo bench", "benches": benches })
}

fn meta() -> Value {
    json!({
        "name": "toy", "created": "2026-11-21T16:56:23Z",
        "command": ["target/release/lab", "flame", "toy"],
        "machine": { "os": "linux", "arch": "x86_64", "cpu": null, "cores": 1, "kernel": null,
                     "virtual_machine": null, "governor": null, "memory_mib": null },
        "variants": { "slow": { "profiler": "perf-with-kernel", "samples": 5822, "rooted_share": 1.0,
                                "lost_share": 0.004, "cpu_s": 0.052197, "cpu_agreement": null,
                                "cpu_us_per_request": 514.7 } }
    })
}
