//! Findings as text: aligned, and wrapped to the terminal's width.

use console::{Style, style};
use textwrap::core::display_width;

use super::{Finding, Status};

/// The columns of mark and topic, with the space around them.
const INDENT: usize = 2 + 6 + 14;

/// All findings, for a terminal of this width.
pub fn text(findings: &[Finding], width: usize) -> String {
    findings.iter().map(|finding| entry(finding, width)).collect()
}

/// One finding. Its fix is on the same line if it fits, and never broken, so that it can be copied.
fn entry(finding: &Finding, width: usize) -> String {
    let (mark, look) = match finding.status {
        Status::Ok => ("ok", Style::new().green()),
        Status::Note => ("note", Style::new().blue()),
        Status::Warn => ("warn", Style::new().yellow().bold()),
        Status::Fail => ("FAIL", Style::new().red().bold()),
    };
    let mark = look.apply_to(format!("{mark:<4}"));
    let found = textwrap::wrap(&finding.found, width.saturating_sub(INDENT).max(20));
    let mut text = format!("  {mark}  {:<14}", finding.topic);
    text += &found.join(&format!("\n{:INDENT$}", ""));
    if let Some(fix) = &finding.fix {
        let one_line = INDENT + display_width(&finding.found) + 4 + display_width(fix);
        text += &if one_line <= width { "  ".to_owned() } else { format!("\n{:INDENT$}", "") };
        text += &style(format!("> {fix}")).cyan().to_string();
    }
    text + "\n"
}

/// How many findings of each status there are, and what follows.
pub fn summary(findings: &[Finding]) -> String {
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    let kinds = [Status::Ok, Status::Note, Status::Warn, Status::Fail].map(count);
    let [ok, notes, warnings, failures] = kinds;
    let advice = match (failures, warnings) {
        (0, 0) => "ready to measure",
        (0, _) => "fix the warnings for good figures",
        _ => "a measurement will fail",
    };
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let (notes, warnings) = (plural(notes, "note"), plural(warnings, "warning"));
    format!("{ok} ok, {notes}, {warnings}, {}: {advice}", plural(failures, "failure"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_is_on_the_same_line_if_it_fits_and_never_broken() {
        // A developer's terminal has colours, which have no width.
        console::set_colors_enabled(false);
        let short = Finding::note("wrk", "missing").fix("install wrk");
        assert_eq!(entry(&short, 80), "  note  wrk           missing  > install wrk\n");
        let found = "many words ".repeat(8);
        let long = Finding::warn("load", found.trim()).fix("x".repeat(70));
        let text = entry(&long, 80);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[..2].iter().all(|line| line.len() <= 80), "{text}");
        assert_eq!(lines[2].trim(), format!("> {}", "x".repeat(70)));
    }

    #[test]
    fn the_summary_counts_and_advises() {
        let ok = Finding::ok("cores", "2");
        let warn = Finding::warn("load", "2");
        let fail = Finding::fail("open files", "few");
        assert_eq!(
            summary(std::slice::from_ref(&ok)),
            "1 ok, 0 notes, 0 warnings, 0 failures: ready to measure"
        );
        assert!(summary(&[ok.clone(), warn.clone()]).contains("1 warning, 0 failures: fix"));
        assert!(summary(&[ok, warn, fail]).ends_with("1 failure: a measurement will fail"));
    }
}
