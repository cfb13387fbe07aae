use super::*;
use crate::{chart::recorded, stats::Verdict};

fn about() -> BTreeMap<String, About> {
    let about = About {
        title: Some("A clone <in> a loop".to_owned()),
        question: Some("Where does the time go?".to_owned()),
        flame: Some("flame/hot-clone/index.html".to_owned()),
    };
    BTreeMap::from([("hot-clone".to_owned(), about)])
}

fn page() -> String {
    html(&recorded(), &about()).unwrap()
}

#[test]
fn the_page_asks_no_network_for_anything() {
    let html = page().replace(r#"xmlns="http://www.w3.org/2000/svg""#, "");
    assert!(!html.contains("http:") && !html.contains("https:"));
    assert!(!html.contains("url(") && !html.contains("@import") && !html.contains(" src="));
}

#[test]
fn every_case_has_its_verdict_its_charts_and_its_tables() {
    let (record, html) = (recorded(), page());
    let (summary, rest) = html.split_once("<section id=").unwrap();
    assert_eq!(summary.matches("<svg").count(), 1);
    for (case, section) in record.cases.iter().zip(rest.split("<section id=")) {
        assert!(section.contains(&case.case));
        assert_eq!(section.matches("Verdict: <strong>faster</strong>").count(), 1);
        assert!(section.contains("hroughput: the 95 % interval lies above 1"), "{}", case.case);
        let tables =
            ["Claims:", "Control:", "Illustration, without", "open loop", "Exact:", "Requests"];
        for table in tables {
            assert!(section.contains(table), "{}: {table}", case.case);
        }
    }
    assert_eq!(rest.matches("<svg").count(), record.cases.len() * 2);
}

#[test]
fn what_outlasted_its_run_and_what_must_not_be_quoted_is_said() {
    let html = page();
    assert!(html.contains("47,522 of 48,400 requests outlast their run"));
    assert!(html.contains("fixed: the open loop's latencies do not count"));
}

#[test]
fn only_a_case_whose_flame_graphs_were_drawn_links_them() {
    let html = page();
    assert_eq!(html.matches(r#"<a href="flame/"#).count(), 1);
    assert!(html.contains("<h2>A clone &lt;in&gt; a loop</h2>"));
    assert!(html.contains("<h2>lock-scope</h2>"), "a case that is not known has its name");
}

#[test]
fn the_machine_the_build_and_the_command_are_named() {
    let (record, html) = (recorded(), page());
    let (machine, build) = (&record.machine, &record.build);
    for known in
        [machine.cpu.as_ref(), machine.kernel.as_ref(), build.rustc.as_ref(), build.commit.as_ref()]
    {
        assert!(html.contains(known.unwrap().as_str()), "{known:?}");
    }
    assert!(html.contains("<code>lab bench --pairs"));
}

#[test]
fn the_record_survives_its_way_through_the_page() {
    let html = page();
    let (_, rest) = html.split_once(r#"id="record">"#).unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    let back: Record = serde_json::from_str(json).unwrap();
    let text = |record: &Record| serde_json::to_string(record).unwrap();
    assert_eq!(text(&back), text(&recorded()));
}

#[test]
fn doubts_are_the_first_that_is_read() {
    let mut record = recorded();
    assert!(!page().contains("quick look"));
    record.quick = true;
    record.build.profile = "debug".to_owned();
    record.cases[0].variants[1].wrong = 3;
    record.cases[0].verdict = Verdict::TooNoisy;
    let html = html(&record, &about()).unwrap();
    let (before, after) = html.split_once("<h2>Summary</h2>").unwrap();
    assert!(before.contains("quick look") && before.contains("debug build"));
    assert!(before.contains("<code>--quick</code>"));
    assert!(before.contains("wrong or missing, in double-parse"));
    assert!(after.contains("too noisy: rerun with more pairs"));
}

#[test]
fn a_comparison_without_counts_or_an_open_loop_has_no_empty_tables() {
    let mut record = recorded();
    record.cases.truncate(1);
    let case = &mut record.cases[0];
    case.case = "compare".to_owned();
    for (variant, name) in case.variants.iter_mut().zip(["baseline", "candidate"]) {
        variant.variant = name.to_owned();
        variant.exact.clear();
        variant.open_loop = None;
    }
    case.runs.iter_mut().for_each(|run| {
        run.variant = run.variant.replace("slow", "baseline").replace("fixed", "candidate");
    });
    case.open_runs.clear();
    let html = html(&record, &BTreeMap::new()).unwrap();
    assert!(html.contains("<h1>Measured: candidate against baseline</h1>"));
    assert!(!html.contains("Exact:") && !html.contains("open loop"));
    assert!(html.contains("over baseline") && !html.contains(">slow<"));
}
