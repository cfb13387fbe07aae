//! A case's record in the terminal, without the case's name if that gives the fault away.

use lab_cases::{Case, FIXED, SLOW, Workspace, criterion};
use lab_report::{
    CaseRecord, Cell, ComparisonAnswer, NONE, Record, factor, paragraph, render_line,
    render_overview, render_screen, render_tables,
};

/// How much is shown of a case.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// A line with the verdict, if other cases follow.
    Line,
    Screen,
    /// All tables and notes.
    Tables,
}

/// The text of one case. Unless the form is a line, a paragraph for each remark follows.
pub fn case(case: &Case, record: &CaseRecord, form: Form, remarks: &[String]) -> String {
    let masked = masked(case, record.clone());
    let mut text = match form {
        Form::Line => return render_line(&case.shown, &ComparisonAnswer::of_case(&masked)),
        Form::Screen => {
            let more = "-v, or a page: just lab report --open";
            render_screen(&case.shown, &ComparisonAnswer::of_case(&masked), more)
        }
        Form::Tables => render_tables(&case.question, &masked),
    };
    for remark in remarks {
        text += &format!("\n{}\n", paragraph(remark));
    }
    text
}

/// All cases; with the newest factors of Criterion, if they are wanted.
pub fn overview(
    workspace: &Workspace,
    cases: &[Case],
    record: &Record,
    with_criterion: bool,
) -> String {
    let mut shown = record.cases.clone();
    for measured in &mut shown {
        if let Some(case) = cases.iter().find(|case| measured.case == case.name) {
            *measured = masked(case, measured.clone());
        }
    }
    let mut answer =
        ComparisonAnswer { is_quick: record.quick, ..ComparisonAnswer::of_cases(&shown) };
    if with_criterion {
        add_criterion(&mut answer, workspace, &record.cases);
    }
    render_overview(&answer)
}

/// A column with Criterion's factor for each case, if one has such a factor.
fn add_criterion(answer: &mut ComparisonAnswer, workspace: &Workspace, cases: &[CaseRecord]) {
    let dir = workspace.criterion();
    let micro = |case: &CaseRecord| criterion::speedup(&dir, case.case.as_str(), SLOW, FIXED);
    let micros: Vec<_> = cases.iter().map(micro).collect();
    if micros.iter().all(Option::is_none) {
        return;
    }
    answer.table.head.push("Criterion".to_owned());
    for (row, micro) in answer.table.rows.iter_mut().zip(micros) {
        row.push(Cell::from(micro.map_or(NONE.to_owned(), factor)));
    }
}

/// Under the case's alias, without counts that name the fault, such as those of connections.
fn masked(case: &Case, mut record: CaseRecord) -> CaseRecord {
    if case.shown != case.name {
        record.case = case.shown.as_str().into();
        record.variants.iter_mut().for_each(|variant| variant.exact.clear());
    }
    record
}
