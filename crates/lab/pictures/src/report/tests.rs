use lab_stats::Verdict;
use serde_json::Value;

use super::*;
use crate::chart::recorded;

/// The page of a workspace that knows one of the cases, whose flame graphs were drawn.
fn html(record: &Record) -> String {
    let dir = tempfile::tempdir().unwrap();
    let case = dir.path().join("hot-clone");
    std::fs::create_dir(&case).unwrap();
    let text = "title = \"A clone <in> a loop\"\nquestion = \"q\"\nvariants = [\"slow\", \"fixed\"]\n\
                load = { users = 1 }\n[[request]]\npath = \"/\"\nanswer = \"6\"\n";
    std::fs::write(case.join("case.toml"), text).unwrap();
    let known = Case::read(&case.join("case.toml")).unwrap();
    let flame = dir.path().join("lab/flame");
    std::fs::create_dir_all(flame.join("hot-clone")).unwrap();
    std::fs::write(flame.join("hot-clone/index.html"), "").unwrap();
    let path = dir.path().join("site/report.html");
    write(record, &[known], &flame, &path).unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let html = html(&recorded());
    let own = html.replace(r#"xmlns="http://www.w3.org/2000/svg""#, "");
    for foreign in ["http:", "https:", "url(", "@import", " src=", "<script"] {
        assert!(!own.contains(foreign), "{foreign}");
    }
}

#[test]
fn the_page_names_the_record() {
    let html = html(&recorded());
    assert!(html.contains("Z.json</dd>"));
}

#[test]
fn every_case_has_its_verdict_its_charts_and_its_tables() {
    let (record, html) = (recorded(), html(&recorded()));
    let (first, rest) = html.split_once("<section id=").unwrap();
    assert!(first.contains("fixed is faster in 4 of 4 cases"), "{first}");
    assert!(first.contains("lock-scope") && first.contains("% interval, from pairs of runs"));
    for (case, section) in record.cases.iter().zip(rest.split("<section id=")) {
        assert!(section.contains(case.case.as_str()));
        assert_eq!(section.matches(r#"is <strong class="better">faster</strong>: "#).count(), 1);
        assert_eq!(section.matches("<svg").count(), 1);
        let tables =
            ["noise ±", "Noise:", "Illustration, without", "open loop", "Exact:", "Requests"];
        for table in tables {
            assert!(section.contains(table), "{}: {table}", case.case);
        }
        assert!(!section.contains("Claims:"), "the first table has them");
    }
    assert!(html.contains("<h2>A clone &lt;in&gt; a loop</h2>"));
    assert!(html.contains("<h2>lock-scope</h2>"), "a case that is not known has its name");
    assert_eq!(html.matches(r#"<a href="../lab/flame/hot-clone/index.html">"#).count(), 1);
    assert!(html.contains("47,522 of 48,400 requests were unfinished"));
    assert!(html.contains("<code>lab bench --pairs"));
    let (machine, build) = (&record.machine, &record.build);
    for known in [&machine.cpu, &machine.kernel, &build.rustc, &build.commit] {
        assert!(html.contains(known.as_deref().unwrap()), "{known:?}");
    }
}

/// A page without its pictures and its style, a line a paragraph.
fn text_of(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text += before;
        let skipped = ["svg", "style"].iter().find(|it| tag.starts_with(**it));
        let end = skipped.map_or(">".to_owned(), |it| format!("</{it}>"));
        let (tag, after) = tag.split_once(&end).unwrap();
        let ends = ["/p", "/h1", "/h2", "/li", "/tr", "/caption", "/dd", "/pre", "/title"];
        text += if ends.contains(&tag) { "\n" } else { "" };
        text += if ["/td", "/th", "/dt"].contains(&tag) { " | " } else { "" };
        rest = after;
    }
    text
}

#[test]
fn a_report_reads_like_this() {
    let mut record = recorded();
    record.cases.truncate(3);
    record.cases.remove(0);
    insta::assert_snapshot!(text_of(&html(&record)));
}

#[test]
fn a_single_comparison_begins_with_its_answer_and_names_its_servers() {
    let mut record = recorded();
    record.cases.truncate(1);
    record.command = ["lab", "compare", "./old <a>", "./new"].map(str::to_owned).into();
    let case = &mut record.cases[0];
    case.case = lab_report::CaseName::OwnServers;
    case.variants[0].given = "./old <a>".to_owned();
    let html = html(&record);
    let (first, rest) = html.split_once("<svg").unwrap();
    let title = r#"<h1>fixed is <strong class="better">faster</strong>: 7.26×"#;
    for shown in
        [title, "<code>./old &lt;a&gt;</code>", "noise ±", "<strong>req/s</strong> decides"]
    {
        assert!(first.contains(shown), "{shown}: {first}");
    }
    assert!(rest.contains("<h2>All figures</h2>") && !html.contains("compare</h2>"));
}

#[test]
fn doubts_come_first() {
    let mut record = recorded();
    assert!(!html(&record).contains("quick run"));
    record.quick = true;
    record.build.profile = "debug".to_owned();
    record.cases[0].variants[1].requests.wrong = 3;
    record.cases[0].verdict = Verdict::Undecided;
    let html = html(&record);
    let (before, _) = html.split_once("<section").unwrap();
    for doubt in ["quick run", "debug build", "<code>--quick</code>", "missing, in double-parse"] {
        assert!(before.contains(doubt), "{doubt}");
    }
    assert!(before.contains(r#"<strong class="undecided">undecided</strong>"#));
}

/// A record of one case with few runs, so that a change hits something that is shown.
#[test]
fn a_malformed_record_is_refused_or_becomes_a_page() {
    let mut record: Value = serde_json::to_value(recorded()).unwrap();
    record["cases"].as_array_mut().unwrap().truncate(1);
    for runs in ["runs", "open_runs"] {
        let runs = record["cases"][0][runs].as_array_mut().unwrap();
        runs.truncate(2);
        for run in runs {
            run["outcome"]["latency_us"].as_array_mut().unwrap().truncate(3);
        }
    }
    malformed_input::texts([record.to_string()], |text| {
        if let Ok(record) = serde_json::from_str::<Record>(text) {
            assert!(page(&record, &[], |_| None).contains("</html>"));
        }
    });
}
