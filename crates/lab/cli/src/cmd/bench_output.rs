//! What the terminal shows of a case's record: not its name, if that gives the fault away.

use lab_cases::{Case, FIXED, SLOW, Workspace, criterion};
use lab_report::{CaseRecord, Record, answer, comparison, paragraph, screen};

/// How much is shown of a case.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// Its verdict, if others follow.
    Line,
    Screen,
    /// All tables and notes.
    Tables,
}

/// One case, and a paragraph for each remark unless it has only a line.
pub fn case(case: &Case, record: &CaseRecord, form: Form, remarks: &[String]) -> String {
    let masked = masked(case, record.clone());
    let mut text = match form {
        Form::Line => return answer(&case.shown, &masked),
        Form::Screen => screen(&case.shown, &masked, "-v, or a page: just lab report --open"),
        Form::Tables => comparison(&case.question, &masked),
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
    let dir = workspace.criterion();
    let micro = |it: &CaseRecord| criterion::speedup(&dir, &it.case, SLOW, FIXED);
    let micros = record.cases.iter().map(|it| micro(it).filter(|_| with_criterion)).collect();
    let mut record = record.clone();
    for shown in &mut record.cases {
        if let Some(case) = cases.iter().find(|case| case.name == shown.case) {
            *shown = masked(case, shown.clone());
        }
    }
    lab_report::overview(&record, micros)
}

/// Under the case's alias, without counts that name the fault, such as those of connections.
fn masked(case: &Case, mut record: CaseRecord) -> CaseRecord {
    if case.shown != case.name {
        record.case.clone_from(&case.shown);
        record.variants.iter_mut().for_each(|variant| variant.exact.clear());
    }
    record
}
