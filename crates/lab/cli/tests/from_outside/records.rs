//! What becomes of records: history, differences, exports, and files that are none.

use std::process::Output;

use serde_json::Value;

use crate::toy::{Toy, stderr};

fn run(toy: &Toy, args: &[&str]) -> Output {
    toy.lab(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A workspace in which one short bench was run.
fn measured() -> Toy {
    let toy = Toy::new(&[]);
    let output = toy.bench(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    toy
}

#[test]
fn history_lists_the_runs_of_a_case() {
    let toy = Toy::new(&[]);
    assert!(stdout(&run(&toy, &["history", "toy"])).contains("`lab bench toy` makes one"));
    assert!(toy.bench(&[]).status.success());
    let history = stdout(&run(&toy, &["history", "toy"]));
    let name = toy.results()[0].file_stem().unwrap().to_str().unwrap().to_owned();
    assert!(history.contains(&name), "{history}");
    let unknown = run(&toy, &["history", "tow"]);
    assert!(stderr(&unknown).contains("did you mean `toy`?"));
}

#[test]
fn diff_sets_two_runs_side_by_side_and_claims_nothing() {
    let toy = measured();
    let name = toy.results()[0].file_name().unwrap().to_str().unwrap()[..15].to_owned();
    let diff = run(&toy, &["diff", &name, "latest"]);
    let text = stdout(&diff);
    assert!(text.contains("toy-slow") && text.contains("1.00×"), "{text}");
    assert!(text.contains("not measured in pairs"), "{text}");
    let none = run(&toy, &["diff", "1999", "latest"]);
    assert!(stderr(&none).contains("no run is named `1999`"), "{}", stderr(&none));
}

#[test]
fn exports_are_what_other_tools_read() {
    let toy = measured();
    let export = |format: &str| stdout(&run(&toy, &["export", "--format", format]));
    let markdown = export("markdown");
    assert_eq!(markdown.lines().count(), 4, "{markdown}");
    let csv = export("csv");
    let columns = csv.lines().map(|line| line.split(',').count()).collect::<Vec<_>>();
    assert_eq!(columns, [15; 7], "{csv}");
    for format in ["github-smaller", "github-bigger"] {
        let entries: Value = serde_json::from_str(&export(format)).unwrap();
        for entry in entries.as_array().unwrap() {
            assert!(entry["name"].is_string() && entry["unit"].is_string());
            assert!(entry["value"].as_f64().unwrap() > 0.0);
        }
    }
    let bencher: Value = serde_json::from_str(&export("bencher")).unwrap();
    assert!(bencher["toy-fixed"]["throughput"]["value"].as_f64().unwrap() > 0.0);
    let speedup = &bencher["toy-fixed"]["speedup"];
    assert!(speedup["lower_value"].as_f64() <= speedup["upper_value"].as_f64());
}

#[test]
fn a_report_is_one_page_that_holds_its_record() {
    let toy = measured();
    std::fs::remove_file(toy.path("target/lab/report.html")).unwrap();
    let output = run(&toy, &["report"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("  Report     "), "{}", stdout(&output));
    let html = std::fs::read_to_string(toy.path("target/lab/report.html")).unwrap();
    assert!(html.contains("A stand-in") && html.contains("Does it answer?"));
    let (_, rest) = html.split_once(r#"id="record">"#).unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    let record: Value = serde_json::from_str(json).unwrap();
    let kept = std::fs::read_to_string(&toy.results()[0]).unwrap();
    assert_eq!(record, serde_json::from_str::<Value>(&kept).unwrap());
}

#[test]
fn a_report_of_a_named_run_goes_where_it_is_told_to_and_links_the_flame_pages() {
    let toy = measured();
    let flame = toy.path("target/lab/flame/toy");
    std::fs::create_dir_all(&flame).unwrap();
    std::fs::write(flame.join("index.html"), "").unwrap();
    let name = toy.results()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let output = run(&toy, &["report", &name, "-o", "pages/mine.html"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("pages/mine.html"), "{}", stdout(&output));
    let html = std::fs::read_to_string(toy.path("pages/mine.html")).unwrap();
    assert!(html.contains(r#"href="../target/lab/flame/toy/index.html""#));
    let page = std::fs::read_to_string(toy.path("target/lab/report.html")).unwrap();
    assert!(!page.contains("flame/toy"), "the page of the last bench is left as it was");
}

#[test]
fn there_is_no_report_without_a_run() {
    let output = run(&Toy::new(&[]), &["report"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("`lab bench` makes one"), "{}", stderr(&output));
}

#[test]
fn a_damaged_or_foreign_file_is_named_and_left_alone() {
    let toy = measured();
    let path = toy.results()[0].clone();
    let whole = std::fs::read_to_string(&path).unwrap();
    for (content, message) in [
        (whole[..whole.len() / 2].to_owned(), "is damaged or no record of `lab`"),
        (whole.replacen("\"version\": 2", "\"version\": 1", 1), "use the `lab` that made it"),
        (whole.replacen("\"cases\"", "\"boxes\"", 1), "is damaged; it was left as it is"),
    ] {
        std::fs::write(&path, &content).unwrap();
        let output = run(&toy, &["export"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        // The others can still be listed.
        let history = run(&toy, &["history", "toy"]);
        assert!(history.status.success());
        assert!(stderr(&history).contains("1 runs cannot be read"), "{}", stderr(&history));
    }
}
