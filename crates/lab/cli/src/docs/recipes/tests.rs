//! Every recipe on a small workspace: what it makes, and what it says when it cannot.

use crate::docs::fixture::{Fixture, record};

#[track_caller]
fn makes(call: &str, expected: &str) {
    assert_eq!(Fixture::new().make(call).as_deref(), Ok(expected), "{call}");
}

#[track_caller]
fn fails(call: &str, reason: &str) {
    let error = Fixture::new().make(call).unwrap_err();
    assert!(error.contains(reason), "{call}: {error}");
}

#[test]
fn figures_come_from_the_newest_record() {
    makes("speedup toy throughput", "280× (279–282)");
    makes("speedup toy cpu fixed", "10.2× (9.20–12.2)");
    makes("factor toy throughput", "280×");
    makes("noise toy", "±3.3 %");
    makes("throughput toy slow", "19.6 req/s");
    makes("cpu toy slow", "515 µs");
    makes("latency toy slow p99", "≥ 1.50 s");
    makes("latency toy fixed p50", "51.0 ms");
    makes("latency toy slow p50 open", "51.3 ms");
}

#[test]
fn figures_that_the_record_has_not_are_errors_with_a_remedy() {
    fails("speedup toy throughput no-clone", "nothing of toy's variant `no-clone`: `just record`");
    fails("speedup toy throughput slow", "slow is what the others are measured against");
    fails("speedup toy latency", "no choice is named `latency`");
    fails("speedup toy", "it needs more: `speedup CASE throughput|cpu [VARIANT]`");
    fails("throughput toy slow fast", "`fast` is too much");
    fails("cpu toy fxed", "did you mean `fixed`?");
    fails("noise toy cpu", "`just record` makes one");
    fails("latency toy fixed p50 open", "must not be quoted: the generator was late");
}

#[test]
fn facts_come_from_the_case_and_the_record() {
    makes("load toy", "3,000 users, 0.5 s between requests");
    makes("users toy", "3,000");
    makes("think toy", "500 ms");
    makes("arg toy --downstream-ms ms", "50 ms");
    makes("arg toy downstream-ms ms", "50 ms");
    fails("arg toy --downstream ms", "did you mean `--downstream-ms`?");
    fails("arg toy --name ms", "`x` is no number");
    makes("record date", "2026-11-21");
    makes("record machine", "AMD EPYC (2 cores, virtual machine)");
    makes("record pairs", "15");
    makes("record commit", "`181884465`");
    makes("record confidence", "95.2 %");
    fails("record day", "no fact is named `day`");
    makes("quote 40× or  so", "40× or  so");
    fails("quote", "there is nothing to quote");
}

#[test]
fn counts_are_exact() {
    makes("count toy slow allocations", "30,013");
    makes("count toy slow upstream.tcp_connections", "19");
    fails("count toy slow tcp_connections", "did you mean `upstream.tcp_connections`?");
    makes(
        "table counts toy",
        "| one page        |   slow | no-clone | fixed |\n\
         |-----------------|-------:|---------:|------:|\n\
         | allocations     | 30,013 |   15,000 |    13 |\n\
         | tcp connections |     19 |      n/a |   n/a |\n\n\
         *Counted, and so the same on any machine. Made by `just update-counts`, which keeps them \
         in [`counts.toml`](../../crates/toy/counts.toml).*",
    );
}

#[test]
fn tables_of_the_record_say_who_made_them() {
    makes(
        "table summary",
        "| fixed against slow |       by req/s | by CPU per request | A/A noise |\n\
         |--------------------|---------------:|-------------------:|----------:|\n\
         | `toy`              | 280× (279–282) |  10.2× (9.20–12.2) |    ±3.3 % |\n\n\
         *In brackets: a 95.2 % interval, from pairs of runs. Made by `lab bench --pairs 15` on \
         AMD EPYC (2 cores, virtual machine), 2026-11-21.*",
    );
    makes(
        "table case toy",
        "| toy                      |      slow |    fixed |            factor |\n\
         |--------------------------|----------:|---------:|------------------:|\n\
         | req/s                    |      19.6 |    5,435 |    280× (279–282) |\n\
         | CPU per request          |    515 µs |   515 µs | 10.2× (9.20–12.2) |\n\
         | p50, closed loop         | ≥ 51.0 ms |  51.0 ms |                   |\n\
         | p99, closed loop         |  ≥ 1.50 s |   1.50 s |                   |\n\
         | p50, open loop at 9.80/s |   51.3 ms |      n/a |                   |\n\
         | p99, open loop at 9.80/s |    154 ms |      n/a |                   |\n\
         | peak memory              |  67.4 MiB | 67.4 MiB |                   |\n\n\
         *Load: 3,000 users, 0.5 s between requests. In brackets: a 95.2 % interval, from 15 pairs \
         of runs. Made by `lab bench --pairs 15` on AMD EPYC (2 cores, virtual machine), \
         2026-11-21.*",
    );
}

#[test]
fn steps_need_a_record_of_every_variant() {
    fails("table steps toy", "nothing of toy's variant `no-clone`: `just record` makes one");
    let fixture = Fixture::new();
    let mut record = record(280.0);
    let variants = record["cases"][0]["variants"].as_array_mut().unwrap();
    let mut step = variants[1].clone();
    step["variant"] = "no-clone".into();
    variants.insert(1, step);
    fixture.write("docs/record/2026-11-21-a/record.json", &record.to_string());
    let table = fixture.make("table steps toy").unwrap();
    assert!(table.contains("| slow     |  19.6 |                |          515 µs |"), "{table}");
    assert!(table.contains("| no-clone | 5,435 | 280× (279–282) |"), "{table}");
}

#[test]
fn benches_are_compared_with_the_first_of_their_group() {
    makes("bench locks rwlock", "779 ns");
    makes("bench sweep slow/50", "2.00 ms");
    makes("ratio locks mutex rwlock", "2.45×");
    fails("bench locks rwlok", "did you mean `rwlock`?");
    makes(
        "table benches locks",
        "| locks  |    time |          interval | against mutex |\n\
         |--------|--------:|------------------:|--------------:|\n\
         | mutex  | 1.91 µs | 1.72 µs – 2.10 µs |         1.00× |\n\
         | rwlock |  779 ns |   701 ns – 857 ns |         0.41× |\n\n\
         *A factor above 1 takes longer. Made by `cargo bench --bench lock_scope` on AMD EPYC \
         (2 cores, virtual machine), 2026-11-21.*",
    );
}

#[test]
fn stacks_tell_shares_and_tops() {
    makes("share toy slow parse", "30 %");
    makes("share toy slow \"lock held\" cpu", "60 %");
    makes("share toy slow lock held", "60 %");
    makes("share toy slow kernel", "30 %");
    makes("cost toy slow kernel, for parse", "30.0 µs");
    makes("share toy slow http allocations", "25 %");
    makes("cost toy slow http allocations", "1.00 kB");
    fails("share toy slow prase", "did you mean `parse`?");
    fails("share toy slow parse waits", "slow.waits.folded is missing: `just record` draws it");
    makes(
        "table top toy slow allocations",
        "| slow: bytes allocated for a request | with all it calls | share |  itself |\n\
         |-------------------------------------|------------------:|------:|--------:|\n\
         | `a\\|b`                              |           3.00 kB |  75 % | 3.00 kB |\n\
         | `read`                              |           3.00 kB |  75 % | 0 bytes |\n\
         | `http`                              |           1.00 kB |  25 % | 1.00 kB |\n\n\
         *Made by `lab flame toy` on x86_64 (1 core, linux), 2026-11-21.*",
    );
}

#[test]
fn a_flame_page_tells_how_far_to_trust_it() {
    makes("meta toy slow samples", "5,822");
    makes("meta toy slow rooted_share", "100 %");
    makes("meta toy slow lost_share", "0.4 %");
    makes("meta toy slow cpu_s", "52.2 ms");
    makes("meta toy slow cpu_us_per_request", "515 µs");
    makes("meta toy slow profiler", "perf-with-kernel");
    fails("meta toy slow cpu_agreement", "toy's slow has no cpu_agreement");
    fails("meta toy fixed samples", "no variant of the page is named `fixed`");
}

#[test]
fn a_picture_has_its_caption_twice_for_those_who_see_it_and_those_who_do_not() {
    let path = "../record/2026-11-21-a/flame/toy/slow.svg";
    makes(
        "flame toy slow.svg Where [most] time goes.",
        &format!("[![Where \\[most\\] time goes.]({path})]({path})\n\n*Where [most] time goes.*"),
    );
    fails("flame toy slow.svg All 5 ms of it.", "is stale with the next record");
    fails("flame toy fixed.svg Where?", "flame/toy/fixed.svg is missing: `just record` draws it");
    fails("flame toy slow.svg", "it needs more");
}

#[test]
fn sources_are_quoted_as_they_are() {
    makes(
        "code crates/toy/src/slow.rs fn read",
        "```rust,ignore\nfn read() {\n    wait();\n}\n```\n\n\
         *[`crates/toy/src/slow.rs`](../../crates/toy/src/slow.rs)*",
    );
    makes(
        "code crates/toy/src/fixed.rs mod",
        "```rust,ignore\nfn read() {}\n```\n\n\
         *[`crates/toy/src/fixed.rs`](../../crates/toy/src/fixed.rs)*",
    );
    makes(
        "diff crates/toy/src/slow.rs crates/toy/src/fixed.rs",
        "```diff\n--- crates/toy/src/slow.rs\n+++ crates/toy/src/fixed.rs\n@@ -1,3 +1 @@\n\
         -fn read() {\n-    wait();\n-}\n+fn read() {}\n```\n\n\
         *From [`crates/toy/src/slow.rs`](../../crates/toy/src/slow.rs) to \
         [`crates/toy/src/fixed.rs`](../../crates/toy/src/fixed.rs)*",
    );
    fails("code crates/toy/src/slo.rs", "there is no file crates/toy/src/slo.rs");
    fails("code crates/toy/src/slow.rs fn write", "it has no `fn write`");
    fails("diff crates/toy/src/slow.rs crates/toy/src/slow.rs", "are the same");
}

#[test]
fn commands_are_told_as_they_were_typed() {
    makes("command summary", "`lab bench --pairs 15`");
    makes("command toy", "`lab bench --pairs 15`");
    makes("command benches", "`cargo bench --bench lock_scope`");
    makes("command flame toy", "`lab flame toy`");
    makes("command counts toy", "`just update-counts`");
}

#[test]
fn a_source_that_is_missing_is_an_error_with_its_remedy() {
    let fixture = Fixture::new();
    fixture.remove("docs/record/2026-11-21-a/benches.json");
    let error = fixture.make("table benches locks").unwrap_err();
    assert_eq!(
        error,
        "`table benches locks`: docs/record/2026-11-21-a/benches.json is missing: `just record` \
         makes it"
    );
    fixture.remove("docs/record/2026-11-21-a/record.json");
    let error = fixture.make("table summary").unwrap_err();
    assert!(error.contains("`just record` makes a new one"), "{error}");
    std::fs::remove_dir_all(fixture.path().join("docs/record")).unwrap();
    let error = fixture.make("table summary").unwrap_err();
    assert!(error.ends_with("no record is in docs/record: `just record` makes one"), "{error}");
}

#[test]
fn a_readers_own_figures_stand_beside_the_records() {
    let fixture = Fixture::new();
    let mut own = record(263.0);
    own["created"] = "2027-01-02T03:04:05Z".into();
    own["command"] = serde_json::json!(["lab", "bench", "--quick"]);
    fixture.write("target/lab/runs/20270102T030405000Z.json", &own.to_string());
    fixture.write("target/lab/runs/20270103T030405000Z.json", "damaged");
    for (call, cell) in [
        ("table summary", " 263× (262–265) |"),
        ("table case toy", " 19.6 → 5,435, 263× (262–265) |"),
        ("table case toy", " 51.3 ms → n/a at 9.80/s |"),
    ] {
        let table = fixture.make(call).unwrap();
        assert!(table.contains(" your machine |"), "{table}");
        assert!(table.lines().any(|row| row.ends_with(cell)), "{cell}\n{table}");
        assert!(
            table.ends_with(
                "Your machine: `lab bench --quick` on AMD EPYC (2 cores, virtual machine), \
                 2027-01-02.*"
            ),
            "{table}"
        );
    }
}
