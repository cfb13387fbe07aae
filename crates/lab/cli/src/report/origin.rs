//! Where, when and of what a record was made, so that a figure can be judged years later.

use maud::{Markup, html};

use crate::{bench::Record, display::thousands};

/// The record in half a sentence each: how much, where, when.
pub fn in_short(record: &Record) -> String {
    let cases = match &record.cases[..] {
        [one] => one.case.clone(),
        several => format!("{} cases", several.len()),
    };
    let pairs = record.cases.iter().map(|case| case.pairs).min().unwrap_or(0);
    let plural = if pairs == 1 { "" } else { "s" };
    let when = record.created.strftime("%Y-%m-%d");
    format!("{cases}, {pairs} pair{plural} of runs each, on {}, {when}", machine(record))
}

pub fn section(record: &Record) -> Markup {
    let facts = facts(record);
    html! {
        section {
            h2 { "How it was made" }
            dl { @for (name, value) in &facts { dt { (name) } dd { (value) } } }
            pre { code { (command(&record.command)) } }
        }
    }
}

fn machine(record: &Record) -> String {
    let machine = &record.machine;
    let cpu = machine.cpu.as_deref().unwrap_or(&machine.arch);
    let plural = if machine.cores == 1 { "" } else { "s" };
    format!("{cpu} with {} core{plural}", machine.cores)
}

fn facts(record: &Record) -> Vec<(&'static str, String)> {
    let (machine_of, build) = (&record.machine, &record.build);
    let commit = build.commit.as_ref().map(|commit| match build.dirty {
        Some(true) => format!("{commit}, with changes that no commit has"),
        _ => commit.clone(),
    });
    let is_virtual = machine_of.virtual_machine.map(|it| if it { "yes" } else { "no" }.to_owned());
    let facts = [
        ("made", Some(record.created.strftime("%Y-%m-%d %H:%M UTC").to_string())),
        ("machine", Some(machine(record))),
        ("memory", machine_of.memory_mib.map(|mib| format!("{} MiB", thousands(mib as f64)))),
        ("virtual machine", is_virtual),
        ("system", Some(format!("{}, {}", machine_of.os, machine_of.arch))),
        ("kernel", machine_of.kernel.clone()),
        ("governor", machine_of.governor.clone()),
        ("compiler", build.rustc.clone()),
        ("profile", Some(build.profile.clone())),
        ("commit", commit),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The command as somebody else would type it: where `lab` lay is of no use to them.
fn command(words: &[String]) -> String {
    let Some((lab, arguments)) = words.split_first() else { return String::new() };
    let name = std::path::Path::new(lab).file_stem();
    let name = name.map_or(lab.as_str().into(), |name| name.to_string_lossy());
    let words = std::iter::once(name.as_ref()).chain(arguments.iter().map(String::as_str));
    shell_words::join(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_as_it_can_be_typed_elsewhere() {
        let words = ["some/where/lab", "compare", "--get", "/a b"].map(str::to_owned);
        assert_eq!(command(&words), "lab compare --get '/a b'");
    }
}
