//! The course from outside: `lab docs` fills markers, and `--check` names what a person has to fix.

use crate::toy::{Toy, stderr, stdout};

/// A page whose markers are not filled yet.
const PAGE: &str = "# A toy\n\nSee [the record](../../record) and [below](#where-it-stops).\n\n\
    It has <!-- lab: toy.slow.counts.allocations | thousands --><!-- /lab --> allocations.\n\n\
    <!-- lab: table(\"counts\", toy) -->\n<!-- /lab -->\n\n## Where it stops\n";

#[test]
fn markers_are_filled_once_and_broken_links_are_named() {
    let toy = Toy::new(&[]);
    let none = toy.run(&["docs", "--check"]);
    assert!(stderr(&none).contains("there is no course"), "{}", stderr(&none));
    std::fs::create_dir_all(toy.path("docs/src/cases")).unwrap();
    std::fs::create_dir_all(toy.path("docs/record")).unwrap();
    let page = toy.path("docs/src/cases/toy.md");
    std::fs::write(&page, PAGE).unwrap();
    std::fs::write(
        toy.path("crates/toy/counts.toml"),
        "[slow]\nallocations = 3000\n[fixed]\nallocations = 3\n",
    )
    .unwrap();

    let stale = toy.run(&["docs", "--check"]);
    assert_eq!(stale.status.code(), Some(1));
    assert!(stdout(&stale).contains("docs/src/cases/toy.md:7: `table(\"counts\", toy)` is empty"));
    let filled = toy.run(&["docs"]);
    assert!(filled.status.success(), "{}{}", stdout(&filled), stderr(&filled));
    assert!(stdout(&filled).contains("docs/src/cases/toy.md: 2 of 2 markers filled"));
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("-->3,000<!--") && text.contains("| allocations | 3,000 |"), "{text}");
    assert!(toy.run(&["docs", "--check"]).status.success());
    let value = toy.run(&["docs", "--eval", "(toy.slow.counts.allocations / 7) | figure"]);
    assert_eq!(stdout(&value), "429\n");

    std::fs::write(&page, text.replace("#where-it-stops", "#where-it-ends")).unwrap();
    let broken = stdout(&toy.run(&["docs", "--check"]));
    assert!(broken.contains("toy.md:3: the link `#where-it-ends` is broken"), "{broken}");
    std::fs::write(&page, text.replace("thousands", "thousand")).unwrap();
    let unknown = toy.run(&["docs"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stdout(&unknown).contains("toy.md:5: "), "{}", stdout(&unknown));
    assert!(stdout(&unknown).contains("did you mean `thousands`?"), "{}", stdout(&unknown));
}
