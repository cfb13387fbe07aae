//! Findings as people read them: grouped, aligned, and no wider than the terminal.

use console::{Style, measure_text_width, style};

use super::{Finding, Status};

/// Columns before what was found: mark and topic, with the space around them.
pub(super) const INDENT: usize = 2 + 6 + 14;

/// All findings under their groups' headings, for a terminal of so many columns.
pub fn text(findings: &[Finding], width: usize) -> String {
    let mut text = String::new();
    let mut group = None;
    for finding in findings {
        if group != Some(finding.group) {
            let gap = if group.is_some() { "\n" } else { "" };
            text += &format!("{gap}{}\n", style(finding.group.title()).bold());
            group = Some(finding.group);
        }
        text += &line(finding, width);
    }
    text
}

/// One finding: on one line if it fits with what mends it, which is never broken, because it is
/// there to be copied.
pub fn line(finding: &Finding, width: usize) -> String {
    let mark = look(finding.status).apply_to(format!("{:<4}", finding.status.mark()));
    let mut text = format!("  {mark}  {:<14}", finding.topic);
    let found = wrapped(&finding.found, width.saturating_sub(INDENT).max(20));
    text += &found.join(&format!("\n{:INDENT$}", ""));
    if let Some(mend) = &finding.mend {
        let last = found.last().map_or(0, |line| measure_text_width(line));
        let fits = found.len() == 1 && INDENT + last + 4 + measure_text_width(mend) <= width;
        text += &if fits { "  ".to_owned() } else { format!("\n{:INDENT$}", "") };
        text += &style(format!("> {mend}")).cyan().to_string();
    }
    text + "\n"
}

/// How many findings of each kind there are, in a sentence.
pub fn summary(findings: &[Finding]) -> String {
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    let kinds = [Status::Ok, Status::Note, Status::Warn, Status::Fail].map(count);
    let [ok, notes, warnings, failures] = kinds;
    let verdict = match (failures, warnings) {
        (0, 0) => "ready to measure",
        (0, _) => "mend the warnings for good figures",
        _ => "a measurement will not succeed",
    };
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let counts = [
        format!("{ok} ok"),
        plural(notes, "note"),
        plural(warnings, "warning"),
        plural(failures, "failure"),
    ];
    format!("{}: {verdict}", counts.join(", "))
}

fn look(status: Status) -> Style {
    match status {
        Status::Ok => Style::new().green(),
        Status::Note => Style::new().blue(),
        Status::Warn => Style::new().yellow().bold(),
        Status::Fail => Style::new().red().bold(),
    }
}

/// Lines of whole words, none wider than `width` unless a word is.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| measure_text_width(line));
        if line > 0 && line + 1 + measure_text_width(word) > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Group;

    #[test]
    fn a_line_holds_what_mends_it_if_it_fits_and_never_breaks_it() {
        // A developer's terminal has colours, and the lengths below do not count them.
        console::set_colors_enabled(false);
        let short = Finding::note(Group::Tools, "wrk", "missing").mend("install wrk");
        assert_eq!(line(&short, 80), "  note  wrk           missing  > install wrk\n");
        let found = "many words ".repeat(8);
        let long = Finding::warn(Group::Cpu, "load", found.trim()).mend("x".repeat(70));
        let text = line(&long, 80);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[..2].iter().all(|line| line.len() <= 80), "{text}");
        assert_eq!(lines[2].trim(), format!("> {}", "x".repeat(70)));
    }

    #[test]
    fn the_summary_counts_and_draws_the_conclusion() {
        let ok = Finding::ok(Group::Cpu, "cores", "2");
        let warn = Finding::warn(Group::Cpu, "load", "2");
        let fail = Finding::fail(Group::Room, "disk", "full");
        assert_eq!(
            summary(std::slice::from_ref(&ok)),
            "1 ok, 0 notes, 0 warnings, 0 failures: ready to measure"
        );
        assert!(summary(&[ok.clone(), warn.clone()]).contains("1 warning, 0 failures: mend"));
        assert!(summary(&[ok, warn, fail]).ends_with("1 failure: a measurement will not succeed"));
    }
}
