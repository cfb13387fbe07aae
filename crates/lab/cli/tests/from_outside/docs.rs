//! The course from outside: what is broken in a page is named, and `lab docs` mends what it can.

use std::process::Output;

use crate::toy::{Toy, stderr};

/// A page whose markers are filled with nothing yet.
const PAGE: &str = "# A toy\n\nSee [the record](../../record) and [below](#where-it-stops).\n\n\
    <!-- lab: table case toy -->\n<!-- /lab -->\n\n\
    The fix gives <!-- lab: factor toy throughput --><!-- /lab --> the throughput, and not\n\
    the <!-- lab: quote 40× --><!-- /lab --> of the article: `1 / 50 ms = 20 per second`.\n\n\
    ```sh\n<!-- lab: no such recipe, and no marker either -->\n```\n\n## Where it stops\n";

/// A workspace with a record, a page and a README.
fn course() -> Toy {
    let toy = Toy::new(&[]);
    let bench = toy.bench(&[]);
    assert!(bench.status.success(), "{}", stderr(&bench));
    let record = toy.path("docs/record/2026-11-21-here");
    std::fs::create_dir_all(&record).unwrap();
    std::fs::copy(&toy.results()[0], record.join("record.json")).unwrap();
    std::fs::create_dir_all(toy.path("docs/src/cases")).unwrap();
    std::fs::write(toy.path("docs/src/cases/toy.md"), PAGE).unwrap();
    std::fs::write(toy.path("README.md"), "# Toys\n\n[Begin](docs/src/cases/toy.md).\n").unwrap();
    toy
}

fn docs(toy: &Toy, args: &[&str]) -> Output {
    toy.lab(&[&["docs"], args].concat()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn page(toy: &Toy) -> String {
    std::fs::read_to_string(toy.path("docs/src/cases/toy.md")).unwrap()
}

/// Checks that `--check` fails, changes nothing, and says this.
#[track_caller]
fn check_says(toy: &Toy, expected: &str) {
    let before = page(toy);
    let check = docs(toy, &["--check"]);
    assert_eq!(check.status.code(), Some(1), "{}", stdout(&check));
    assert!(stdout(&check).contains(expected), "{expected}\n{}", stdout(&check));
    assert_eq!(page(toy), before);
}

/// A course that was spliced, with this in its page replaced.
fn broken(what: &str, by: &str) -> Toy {
    let toy = course();
    assert!(docs(&toy, &[]).status.success());
    let text = page(&toy);
    assert!(text.contains(what), "{text}");
    std::fs::write(toy.path("docs/src/cases/toy.md"), text.replacen(what, by, 1)).unwrap();
    toy
}

#[test]
fn empty_markers_are_named_and_then_filled_once() {
    let toy = course();
    check_says(&toy, "docs/src/cases/toy.md:5: `table case toy` is empty: `just docs` fills it");
    let first = docs(&toy, &[]);
    assert!(first.status.success(), "{}{}", stdout(&first), stderr(&first));
    assert!(stdout(&first).contains("docs/src/cases/toy.md: 3 of 3 markers filled"));
    let filled = page(&toy);
    assert!(filled.contains("| req/s ") && filled.contains("*Load: 3 users"), "{filled}");
    let check = docs(&toy, &["--check"]);
    assert!(check.status.success(), "{}", stdout(&check));
    assert!(docs(&toy, &[]).status.success());
    assert_eq!(page(&toy), filled, "a second time changes nothing");
}

#[test]
fn a_block_that_was_changed_by_hand_is_named_and_mended() {
    let toy = broken("| req/s ", "| REQ/S ");
    check_says(&toy, "docs/src/cases/toy.md:5: `table case toy` is stale: it says `| REQ/S ");
    assert!(docs(&toy, &[]).status.success());
    assert!(page(&toy).contains("| req/s "));
    assert!(docs(&toy, &["--check"]).status.success());
}

#[test]
fn a_new_record_makes_the_pages_stale() {
    let toy = broken("## Where", "## Where");
    let newer = toy.path("docs/record/2026-11-22-here");
    std::fs::create_dir_all(&newer).unwrap();
    let old = toy.path("docs/record/2026-11-21-here/record.json");
    let record = std::fs::read_to_string(old).unwrap().replace("3 users", "4 users");
    std::fs::write(newer.join("record.json"), record).unwrap();
    check_says(&toy, "should say `*Load: 4 users");
}

#[test]
fn a_figure_of_nobody_is_named() {
    let toy = broken("the throughput", "7 times the throughput");
    check_says(&toy, "the figure `7 times` has no source: splice it (`lab docs --recipes`)");
    assert!(docs(&toy, &[]).status.success(), "only a person can mend it");
    check_says(&toy, "the figure `7 times` has no source");
}

#[test]
fn a_link_to_nowhere_is_named() {
    check_says(&broken("../../record", "../../records"), "docs/src/cases/toy.md:3: the link");
    let toy = broken("#where-it-stops", "#where-it-ends");
    check_says(&toy, "has not; the nearest is `#where-it-stops`");
    std::fs::write(toy.path("CONTRIBUTING.md"), "[a](b.md)\n").unwrap();
    check_says(&toy, "CONTRIBUTING.md:1: the link `b.md` leads nowhere");
}

#[test]
fn an_unknown_recipe_and_an_unclosed_marker_are_errors_of_both() {
    for (what, by, expected) in [
        ("lab: factor", "lab: facto", "no recipe is named `facto`; did you mean `factor`?"),
        ("<!-- /lab -->\n\nThe", "\n\nThe", "docs/src/cases/toy.md:5: `lab: table case toy`"),
    ] {
        let toy = broken(what, by);
        check_says(&toy, expected);
        let splice = docs(&toy, &[]);
        assert_eq!(splice.status.code(), Some(1));
        assert!(stdout(&splice).contains(expected), "{}", stdout(&splice));
    }
}

#[test]
fn a_source_that_does_not_exist_yet_is_an_error_and_no_empty_block() {
    let toy = broken("lab: table case toy", "lab: table benches locks");
    let splice = docs(&toy, &[]);
    assert_eq!(splice.status.code(), Some(1));
    let told = stdout(&splice);
    assert!(told.contains("benches.json is missing: `just record` makes it"), "{told}");
    assert!(page(&toy).contains("| req/s "), "what stood there is left");
}

#[test]
fn a_tree_without_a_course_is_told_so() {
    let check = docs(&Toy::new(&[]), &["--check"]);
    assert_eq!(check.status.code(), Some(1));
    assert!(stderr(&check).contains("there is no course"), "{}", stderr(&check));
}

#[test]
fn a_reader_has_a_book_with_figures_of_their_own() {
    let toy = broken("../../record", "../../record");
    let text = page(&toy);
    let mine = docs(&toy, &["--mine"]);
    assert!(mine.status.success(), "{}{}", stdout(&mine), stderr(&mine));
    let copy = std::fs::read_to_string(toy.path("target/lab/book-src/cases/toy.md")).unwrap();
    assert!(copy.contains(" your machine |") && copy.contains("Your machine: `lab "), "{copy}");
    assert!(copy.contains("[the record](../../record)"), "{copy}");
    assert_eq!(page(&toy), text, "docs/ stays as it was");
    for run in toy.results() {
        std::fs::remove_file(run).unwrap();
    }
    let none = docs(&toy, &["--mine"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("`just bench-all`"), "{}", stderr(&none));
}

#[test]
fn the_recipes_can_be_listed_anywhere() {
    let toy = Toy::new(&[]);
    let list = stdout(&docs(&toy, &["--recipes"]));
    for recipe in ["table summary", "speedup CASE throughput|cpu [VARIANT]", "quote TEXT"] {
        assert!(list.contains(recipe), "{list}");
    }
}
