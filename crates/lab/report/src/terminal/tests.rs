//! What a comparison looks like in the terminal and as a comment, word by word.

use super::*;
use crate::{
    Record,
    examples::{about_latency, candidates, recorded, troubled},
    render_comment,
};

#[test]
fn a_comparison_looks_like_this() {
    console::set_colors_enabled(false);
    for (name, record) in
        [("calm", recorded()), ("troubled", troubled()), ("latency", about_latency())]
    {
        let case = &record.cases[0];
        let answer = ComparisonAnswer::of_case(case);
        insta::assert_snapshot!(format!("{name}_terminal"), render_tables("What is slow?", case));
        insta::assert_snapshot!(
            format!("{name}_screen"),
            render_screen("double-parse", &answer, "-v")
        );
        let alone = Record { cases: vec![case.clone()], ..record.clone() };
        insta::assert_snapshot!(format!("{name}_comment"), render_comment(&alone));
    }
}

#[test]
fn several_candidates_are_a_row_each() {
    console::set_colors_enabled(false);
    let record = candidates();
    insta::assert_snapshot!(
        "candidates_screen",
        render_screen("", &ComparisonAnswer::of(&record), "-v")
    );
    insta::assert_snapshot!("candidates_comment", render_comment(&record));
}

#[test]
fn no_cell_breaks_the_columns() {
    console::set_colors_enabled(false);
    let long = "größe".repeat(30);
    let rows = [["a", "1 ms", ""], [long.as_str(), "n/a", "5\n6"]];
    let rows = rows.map(|row| row.map(str::to_owned).to_vec());
    let text = Table::new("", ["name", "time", "count"], rows).text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    let end = |line: &str, word: &str| measure_text_width(line.split_once(word).unwrap().0);
    assert_eq!(end(lines[0], "  time") + 6, end(lines[1], "  1 ms") + 6, "{text}");
    assert_eq!(end(lines[2], "n/a") + 3, end(lines[0], "time") + 4, "{text}");
    assert!(lines[2].ends_with("5 6") && lines[0].ends_with("count"), "{text}");
    assert_eq!(Table::default().text(), "");
}
