use std::fs;

use lab_report::Record;
use tempfile::TempDir;

use super::*;
use crate::chart::recorded;

const HOSTILE: &str = "a\"><b>&#1 100%";

/// A workspace with these cases, and no results yet.
fn workspace(cases: &[&str]) -> (TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for case in cases {
        let text = "title = \"A <fault>\"\nquestion = \"q\"\nvariants = [\"slow\", \"fixed\"]\n\
                    load = { users = 1 }\n[[request]]\npath = \"/\"\nanswer = \"6\"\n";
        put(root, &format!("crates/{case}/case.toml"), text);
        put(root, &format!("docs/src/cases/{case}.md"), "# A chapter\n");
    }
    let workspace = Workspace::find(Some(root), Some(&root.join("target/bin"))).unwrap();
    (dir, workspace)
}

fn put(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn keep(workspace: &Workspace, record: &Record) {
    Store::new(&workspace.results()).keep(record.created, record).unwrap();
}

/// The page, which is written.
fn html(workspace: &Workspace) -> String {
    let places = ResultPlaces::of_workspace(workspace).unwrap();
    write(workspace, &places).unwrap();
    fs::read_to_string(workspace.results().join("index.html")).unwrap()
}

/// The part of the page about a case.
#[track_caller]
fn section<'a>(html: &'a str, case: &str) -> &'a str {
    let (_, from) = html.split_once(&format!("<section id=\"{case}\"")).unwrap();
    from.split("<section").next().unwrap()
}

/// Every link of the page leads to a file next to it or above it.
#[track_caller]
fn ensure_links_lead_somewhere(html: &str, page: &Path) {
    let targets = ["href=\"", "src=\""].into_iter().flat_map(|name| html.split(name).skip(1));
    let targets = targets.map(|rest| rest.split('"').next().unwrap());
    for target in targets.filter(|target| !target.starts_with('#')) {
        let path = percent_encoding::percent_decode_str(target).decode_utf8().unwrap();
        let path = page.parent().unwrap().join(&*path);
        assert!(path.is_file(), "{target} is {}, which is no file", path.display());
    }
}

#[test]
fn without_a_record_each_case_says_which_commands_make_its_results() {
    let (dir, workspace) = workspace(&["hot-clone", "lock-scope"]);
    put(dir.path(), "benches/micro/hot_clone.rs", "");
    let html = html(&workspace);
    assert!(html.contains("<h1>Nothing is measured yet</h1>") && html.contains("0 of 2 cases"));
    let hot = section(&html, "hot-clone");
    for command in [
        "just bench hot-clone",
        "just flame hot-clone",
        "cargo bench --package benches --bench hot_clone",
    ] {
        assert!(hot.contains(&format!("<code>{command}</code>")), "{command}: {hot}");
    }
    assert!(hot.contains("href=\"../../docs/src/cases/hot-clone.md\""), "{hot}");
    assert!(section(&html, "lock-scope").contains("has no bench"));
    assert!(!html.contains("<img"));
    ensure_links_lead_somewhere(&html, &workspace.results().join("index.html"));
}

#[test]
fn each_case_has_the_figures_of_its_newest_record() {
    let (dir, workspace) = workspace(&["double-parse", "hot-clone", "toy"]);
    let older = recorded();
    keep(&workspace, &older);
    let mut newer = recorded();
    newer.created += jiff::SignedDuration::from_hours(24);
    newer.quick = true;
    newer.cases.retain(|case| case.case == "hot-clone");
    keep(&workspace, &newer);
    let mut foreign = newer.clone();
    foreign.created += jiff::SignedDuration::from_hours(24);
    foreign.command = ["lab", "compare", "./old", "./new"].map(str::to_owned).into();
    keep(&workspace, &foreign);
    put(dir.path(), "target/lab/runs/20991121T151556791Z.json", "damaged");
    for file in ["index.html", "slow.raw.svg", "slow.svg", "fixed.svg"] {
        put(dir.path(), &format!("target/lab/flame/hot-clone/{file}"), "<svg/>");
    }
    for (variant, ns) in [("slow", 30.0), ("fixed", 4.0)] {
        let estimates = format!("{{\"median\":{{\"point_estimate\":{ns}}}}}");
        let file = format!("target/criterion/hot-clone/{variant}/new/estimates.json");
        put(dir.path(), &file, &estimates);
    }
    for report in ["report", "hot-clone/report"] {
        put(dir.path(), &format!("target/criterion/{report}/index.html"), "");
    }
    put(
        dir.path(),
        "crates/toy/counts.toml",
        "[slow]\nallocations = 30013\n[fixed]\nallocations = 13\n",
    );

    let html = html(&workspace);
    assert!(html.contains("<h1>fixed is faster in 2 of 2 cases</h1>") && html.contains("2 of 3"));
    let [old, new] = [older.created, newer.created].map(|at| at.strftime("%Y-%m-%d").to_string());
    let (hot, double) = (section(&html, "hot-clone"), section(&html, "double-parse"));
    assert!(hot.contains(&new) && hot.contains("A quick run") && !hot.contains(&old), "{hot}");
    assert!(double.contains(&old) && !double.contains("A quick run"), "{double}");
    let machine = older.machine.to_string();
    for part in [r#"is <strong class="better">faster</strong>: "#, &machine, "allocations"] {
        assert!(double.contains(part) && hot.contains(part), "{part}: {hot}");
    }
    assert!(hot.contains("7.50× in process"), "{hot}");
    assert!(hot.contains("href=\"../criterion/hot-clone/report/index.html\""), "{hot}");
    // The standard graph where there is one, and ours where there isn't.
    assert!(hot.contains("src=\"flame/hot-clone/slow.raw.svg\""), "{hot}");
    assert!(hot.contains("src=\"flame/hot-clone/fixed.svg\""), "{hot}");
    assert_eq!(hot.matches("href=\"flame/hot-clone/index.html\"").count(), 2, "{hot}");
    let toy = section(&html, "toy");
    assert!(toy.contains("Not measured yet") && toy.contains("30,013"), "{toy}");
    assert!(toy.contains("A &lt;fault&gt;"), "{toy}");
    ensure_links_lead_somewhere(&html, &workspace.results().join("index.html"));
    let own = html.replace("http://www.w3.org", "");
    assert!(!own.contains("http") && !own.contains("<script"), "it needs no network");
}

#[test]
fn the_name_of_a_case_can_neither_write_the_page_nor_break_a_link() {
    let (dir, workspace) = workspace(&[HOSTILE]);
    let mut record = recorded();
    record.cases.truncate(1);
    record.cases[0].case = HOSTILE.into();
    keep(&workspace, &record);
    for file in ["index.html", "slow.raw.svg", "fixed.raw.svg"] {
        put(dir.path(), &format!("target/lab/flame/{HOSTILE}/{file}"), "<svg/>");
    }
    let html = html(&workspace);
    assert!(html.contains("<h2>a&quot;&gt;&lt;b&gt;&amp;#1 100%</h2>"), "{html}");
    assert!(!html.contains("<b>") && html.matches("<img").count() == 2, "{html}");
    ensure_links_lead_somewhere(&html, &workspace.results().join("index.html"));
}
