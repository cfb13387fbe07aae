//! `lab --help`: the verbs in groups, by what you want to do.
//!
//! clap shows all verbs under one heading, so its template gets the groups as text.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::Lab;

const GROUPS: [(&str, &[&str]); 4] = [
    ("Your own server", &["triage", "compare", "flame", "doctor"]),
    ("The cases", &["list", "bench", "count", "verify", "history", "report"]),
    ("The course and its records", &["docs", "record", "new-case"]),
    ("`lab` itself", &["completions", "man", "help"]),
];

/// The command line, whose help shows the groups.
pub fn lab() -> Command {
    let mut lab = Lab::command();
    // Only then has it the verb `help`.
    lab.build();
    let groups = groups(&lab);
    Lab::command().help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}{{options}}\n\n\
         `lab help VERB` explains a verb.\n"
    ))
}

fn groups(lab: &Command) -> String {
    let style = lab.get_styles().get_header();
    let mut text = String::new();
    for (heading, verbs) in GROUPS {
        let _ = writeln!(text, "{style}{heading}:{style:#}");
        for verb in verbs {
            let about = lab.find_subcommand(verb).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {verb:15}  {about}");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{style}Options:{style:#}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_verb_is_in_one_group() {
        let mut lab = Lab::command();
        lab.build();
        let visible = lab.get_subcommands().filter(|verb| !verb.is_hide_set());
        let mut visible: Vec<_> = visible.map(Command::get_name).collect();
        let mut grouped = GROUPS.map(|(_, verbs)| verbs).concat();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }
}
