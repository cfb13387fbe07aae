//! The verbs that read records, on a record that no server ran for.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

use serde_json::Value;

use crate::toy::{Toy, ends, fails, prints};

#[test]
fn a_report_is_written_where_it_is_wanted() {
    let toy = Toy::with_record();
    toy.write("target/lab/flame/toy/index.html", "");
    prints(&toy.run(&["report", "2026", "-o", "pages/mine.html"]), "Report pages/mine.html");
    let html = toy.read("pages/mine.html");
    assert!(html.contains("<title>fixed is faster: ") && html.contains("Does it answer?"));
}

#[test]
fn a_report_links_the_flame_page() {
    let toy = Toy::with_record();
    toy.write("target/lab/flame/toy/index.html", "");
    ends(&toy.run(&["report", "-o", "pages/mine.html"]), 0);
    let html = toy.read("pages/mine.html");
    assert!(html.contains(r#"href="../target/lab/flame/toy/index.html""#));
    fails(&toy.run(&["report", "1999"]), 2, "no run is named `1999`");
}

#[test]
fn a_comment_comes_from_a_record_whose_verdict_agrees_with_its_figures() {
    let toy = Toy::with_record();
    let comment = |name: &str| toy.run(&["report", "--markdown", name]);
    ends(&comment("it.md"), 0);
    let text = toy.read("it.md");
    assert!(text.starts_with("### `lab compare`: faster\n"), "{text}");

    let path = &toy.results()[0];
    let mut record: Value = serde_json::from_str(&toy.read(path)).unwrap();
    record["cases"][0]["verdict"] = "slower".into();
    toy.write(path, &record.to_string());
    fails(&comment("other.md"), 2, "its figures say `faster`");
    assert!(!toy.path("other.md").exists() && !toy.path("target/lab/report.html").exists());
}

#[test]
fn a_damaged_or_foreign_file_is_an_error_and_stays() {
    let toy = Toy::with_record();
    let path = &toy.results()[0];
    let whole = toy.read(path);
    for (content, message) in [
        (whole[..whole.len() / 2].to_owned(), "is damaged or no record of `lab`"),
        (whole.replacen("\"version\":4", "\"version\":3", 1), "use the `lab` that made it"),
        (whole.replacen("\"cases\"", "\"boxes\"", 1), "is damaged; it was left as it is"),
    ] {
        toy.write(path, &content);
        fails(&toy.run(&["report"]), 2, message);
        assert_eq!(toy.read(path), content);
    }
}

#[test]
fn a_comment_may_have_any_name() {
    let toy = Toy::with_record();
    let name = OsStr::from_bytes(b"\xff.md");
    ends(&toy.lab(&["report"]).arg("--markdown").arg(name).output().unwrap(), 0);
    assert!(toy.path(".").join(name).is_file());
}
