//! What is coloured in a terminal. A program of its own, because colours are on or off for a whole process.

use console::{set_colors_enabled, strip_ansi_codes, style};
use lab_report::{ComparisonAnswer, Record, render_overview, render_screen};

/// The same with colours and without.
fn both(render: impl Fn() -> String) -> [String; 2] {
    [true, false].map(|has_colours| {
        set_colors_enabled(has_colours);
        let text = render();
        set_colors_enabled(true);
        text
    })
}

#[test]
fn a_colour_is_on_a_verdict_or_a_factor_and_on_no_other_word() {
    let mut record: Record = serde_json::from_str(include_str!("fixtures/record.json")).unwrap();
    record.cases.truncate(2);
    // Names that look like verdicts.
    for (case, name) in record.cases.iter_mut().zip(["faster", "slower"]) {
        case.case = name.into();
        case.candidate = name.to_owned();
        case.variants[1].variant = name.to_owned();
    }
    record.command = ["lab", "compare"].map(str::to_owned).into();
    let [one, all] = [ComparisonAnswer::of_case(&record.cases[0]), ComparisonAnswer::of(&record)];
    let cases = ComparisonAnswer::of_cases(&record.cases);
    let [screen, plain_screen] = both(|| render_screen("", &one, "-v"));
    let [candidates, plain_candidates] = both(|| render_screen("", &all, "-v"));
    let [overview, plain_overview] = both(|| render_overview(&cases));
    for (coloured, plain) in
        [(&screen, plain_screen), (&candidates, plain_candidates), (&overview, plain_overview)]
    {
        assert_eq!(strip_ansi_codes(coloured), plain, "colours have no width");
    }
    let verdict = style("faster").bold().green().to_string();
    assert!(screen.starts_with(&format!("  faster is {verdict}: 7.26×")), "{screen}");
    let factor = style("7.26× (6.92–7.68)").green().to_string();
    assert_eq!(screen.matches(&factor).count(), 1, "{screen}");
    for table in [&candidates, &overview] {
        let row = table.lines().find(|line| line.starts_with("  slower ")).unwrap();
        assert!(row.contains(&verdict) && row.matches('\x1b').count() == 3, "{row:?}");
    }
}
