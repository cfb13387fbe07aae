//! A small workspace, and a page with every function.

use lab_protocol::Percentile;

use super::functions::{self, help};
use crate::fixture::{Fixture, record};

/// The page as it should be. `INSTA_UPDATE=always` writes it anew, to be read before it is committed.
const PAGE: &str = include_str!("tests/page.md");

#[test]
fn a_filled_page_stays_as_it_is() {
    let fixture = Fixture::new();
    let filled = fixture.splice(PAGE);
    assert_eq!(filled.faults, []);
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/book/tests/page.md");
        std::fs::write(path, &filled.text).unwrap();
    }
    assert_eq!(filled.text, PAGE);
    assert!(filled.stale.is_empty(), "{:?}", filled.stale);
    let book = fixture.book();
    let charts: Vec<_> = book.charts.iter().map(|(path, _)| path.as_str()).collect();
    let names = ["ladder-toy", "flames-toy", "boxes-toy", "law-toy", "sweep-toy", "law"];
    assert_eq!(charts, names.map(|name| format!("docs/src/charts/{name}.svg")));
}

#[test]
fn the_page_uses_every_function() {
    // One explains all codes, and the other is for translations.
    for name in functions::names().filter(|name| !["codes", "translates"].contains(name)) {
        assert!(PAGE.contains(&format!("{name}(")), "{name}");
    }
}

#[test]
fn the_list_has_the_functions_that_an_expression_can_call() {
    let fixture = Fixture::new();
    let missing = fixture.eval("nothing").unwrap_err();
    for name in functions::names() {
        assert_ne!(fixture.eval(name).unwrap_err(), missing, "{name}");
    }
    let made = include_str!("blocks.rs").matches("add_function(").count();
    assert_eq!(functions::names().count(), made, "each has its line in the list");
    assert!(
        help().contains("\n  card(CASE)\n      the card at the end of a case's page\n"),
        "{}",
        help()
    );
}

#[test]
fn the_page_uses_every_filter_and_the_book_names_it() {
    let text = include_str!("filters.rs");
    let named = |from: &'static str| text.split(from).skip(1).filter_map(|it| it.split('"').next());
    let names: Vec<_> =
        named("        (\"").chain(named("add(env, \"")).chain(named("add_filter(\"")).collect();
    let percentiles = Percentile::all().filter(|it| it.metric() != Some("latency-p999"));
    let names: Vec<_> = names.into_iter().chain(percentiles.map(Percentile::key)).collect();
    let book = include_str!("../../../../../docs/src/adding-a-case.md");
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(PAGE.contains(&format!("| {name} -->")), "the page lacks {name}");
        assert!(book.contains(&format!("`{name}`")), "adding-a-case.md lacks {name}");
    }
}

#[test]
fn a_factor_that_is_a_bound_has_its_sign() {
    let fixture = Fixture::new();
    let shown = |variant: &str, filter: &str| {
        fixture.eval(&format!("toy{variant}.speedup.throughput | {filter}")).unwrap()
    };
    let of = |case: [&str; 3], factor: f64| {
        let mut record = record(factor);
        let toy = &mut record["cases"][0];
        toy["speedup"]["throughput_at_least"] = true.into();
        toy["variants"][1]["speedup"]["throughput_at_least"] = true.into();
        fixture.write("docs/record/2026-11-21-a/record.json", &record.to_string());
        for variant in ["", ".fixed"] {
            let all = ["factor", "interval", "times"].map(|filter| shown(variant, filter));
            assert_eq!(all, case, "{variant}");
        }
    };
    assert_eq!(shown("", "times"), "280 (279–282)");
    of(["≥ 280×", "≥ 280× (279–282)", "≥ 280 (279–282)"], 280.0);
    let exact = fixture.eval("toy.speedup.cpu_per_request | times").unwrap();
    assert!(!exact.contains(['≥', '≤']), "no bound: {exact}");
}

#[test]
fn stale_and_empty_markers_are_named_and_filled() {
    let fixture = Fixture::new();
    let text = "a\n\nIt has <!-- lab: toy.users -->40<!-- /lab -->, or \
                <!-- lab: toy.usrs -->9<!-- /lab --> or <!-- lab: toy.pairs --><!-- /lab -->.\n";
    let found = fixture.splice(text);
    let problems: Vec<_> =
        found.stale.iter().chain(&found.faults).map(ToString::to_string).collect();
    assert_eq!(problems[0], "docs/src/README.md:3: `toy.users` is stale: `just docs` fills it");
    assert_eq!(problems[1], "docs/src/README.md:3: `toy.pairs` is empty: `just docs` fills it");
    assert!(problems[2].starts_with("docs/src/README.md:3: `toy.usrs`: the record has no such"));
    assert!(found.text.contains("-->3000<!--") && found.text.contains("-->9<!--"));
}

#[test]
fn a_mistake_in_an_expression_is_explained() {
    let fixture = Fixture::new();
    for (expression, why) in [
        ("toy.fxed.throughput_rps", "`just docs --eval CASE` lists what it has"),
        ("shar(toy.slow, \"parse\")", "no function is named `shar`; did you mean `share`?"),
        (
            "share(toy.slow)",
            "write `share(VARIANT, NAME, [KIND])`, which gives the share of a request",
        ),
        ("badges(7)", "write `badges()`"),
        ("share(toy.slow, \"prase\")", "no function is named `prase`; did you mean `parse`?"),
        ("share(toy.slow, \"parse\", \"heap\")", "no kind is named `heap`"),
        ("share(toy.slow, \"parse\", \"waits\")", "slow.waits.folded is missing: `just record`"),
        ("toy.slow.counts.tcp_connections", "the record has no such figure"),
        ("toy.fixed.counts.upstream_tcp_connections", "the record has no such figure"),
        ("toy.users | thousand", "filter thousand is unknown"),
        ("toy.users / toy.pairs | figure", "put arithmetic in parentheses before a filter"),
        ("toy.slow", "it is a group of values: case, counts,"),
        ("toy.no_clone.throughput_rps", "the record has no such figure"),
        ("toy.slow.speedup.throughput", "the record has no such figure"),
        ("toy.fixed.open_loop.latency_ms | p50", "or one that must not be quoted"),
        ("toy.fixed.profile.samples", "the record has no such figure"),
        ("benches.alternatives_toy.rwlok.ns", "the record has no such figure"),
        ("table(\"sumary\")", "no table is named `sumary`; did you mean `summary`?"),
        ("chart(\"sweep\", benches.alternatives_toy)", "`alternatives-toy` is not a sweep"),
        ("flame(toy, \"missing.svg\", \"x\")", "flame/toy/missing.svg is missing"),
        ("code(\"crates/toy/src/slo.rs\")", "cannot read crates/toy/src/slo.rs"),
        ("code(\"crates/toy/src/slow.rs\", \"fn write\")", "src/slow.rs: it has no `fn write`"),
        ("diff(\"crates/toy/src/slow.rs\", \"crates/toy/src/slow.rs\")", "are the same"),
        ("toy.", "unexpected end of input"),
    ] {
        let error = fixture.eval(expression).unwrap_err();
        assert!(error.contains(why), "{expression}: {error}");
    }
    let inline = fixture.splice("It is <!-- lab: table(\"counts\", toy) -->x<!-- /lab -->.\n");
    assert!(inline.faults[0].what.contains("give its marker a line of its own"));
}

#[test]
fn a_missing_source_is_an_error_of_what_needs_it() {
    let fixture = Fixture::new();
    fixture.remove("docs/record/2026-11-21-a/benches.json");
    let error = fixture.eval("table(\"benches\", benches.alternatives_toy)").unwrap_err();
    assert!(error.contains("benches.json is missing: `just record` makes it"), "{error}");
    fixture.remove("docs/record/2026-11-21-a/record.json");
    let error = fixture.eval("table(\"summary\")").unwrap_err();
    assert!(error.contains("`just record` makes a new one"), "{error}");
    assert_eq!(fixture.eval("toy.slow.counts.allocations | thousands").unwrap(), "30,013");
    std::fs::remove_dir_all(fixture.path().join("docs/record")).unwrap();
    let error = fixture.eval("toy.users").unwrap_err();
    assert_eq!(error, "no record is in docs/record: `just record` makes one");
}
