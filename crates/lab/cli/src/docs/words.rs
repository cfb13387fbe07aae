//! The parts of a table or a sentence that several recipes have: a Markdown table, who made it.

use comfy_table::{CellAlignment, Table, presets};

use crate::{
    bench::{CaseRecord, Latencies},
    display::time_ms,
    machine::Machine,
};

/// A table that is readable as plain text too: the first column to the left, figures to the right.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    let escaped = |cell: String| cell.replace('|', "\\|");
    let rows = rows.into_iter().map(|row| row.into_iter().map(escaped).collect::<Vec<_>>());
    table.load_style(presets::ASCII_MARKDOWN).set_header(header.to_vec()).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let text = table.to_string();
    let lines = text.lines().enumerate().map(|(index, line)| match index {
        1 => right_aligned(line),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The line below the header, with the mark of right alignment in all columns but the first.
fn right_aligned(line: &str) -> String {
    let mark = |(index, dashes): (usize, &str)| match dashes.strip_suffix('-') {
        Some(dashes) if index > 1 => format!("{dashes}:"),
        _ => dashes.to_owned(),
    };
    line.split('|').enumerate().map(mark).collect::<Vec<_>>().join("|")
}

/// Where a table comes from: ``Made by `lab bench` on ..., 2026-11-21.``
pub fn made_by(command: &str, machine: &Machine, date: jiff::Timestamp) -> String {
    format!("Made by {}.", origin(command, machine, date))
}

/// What was run, on what, and when.
pub fn origin(command: &str, machine: &Machine, date: jiff::Timestamp) -> String {
    format!("`{command}` on {}, {}", machine_in_words(machine), day(date))
}

/// A machine in a few words.
pub fn machine_in_words(machine: &Machine) -> String {
    let cpu = machine.cpu.as_ref().unwrap_or(&machine.arch);
    let cores = if machine.cores == 1 { "core" } else { "cores" };
    let kind = if machine.virtual_machine == Some(true) { "virtual machine" } else { &machine.os };
    format!("{cpu} ({} {cores}, {kind})", machine.cores)
}

/// The day of a record, in UTC.
pub fn day(date: jiff::Timestamp) -> String {
    date.strftime("%Y-%m-%d").to_string()
}

/// A command line without the directory of its program.
pub fn command_line(words: &[String]) -> String {
    let program = words.first().map(|program| {
        program.rsplit(['/', '\\']).next().unwrap_or(program).trim_end_matches(".exe")
    });
    shell_words::join(program.into_iter().chain(words.iter().skip(1).map(String::as_str)))
}

/// The median, the 90th and the 99th percentile, marked where they are lower bounds.
pub fn percentiles(latency: Latencies) -> [String; 3] {
    let bound = if latency.lower_bounds { "≥ " } else { "" };
    [latency.p50, latency.p90, latency.p99].map(|ms| format!("{bound}{}", time_ms(ms)))
}

/// The least confidence of the intervals of throughput, in per cent: `95.2 %`. Rounded down.
pub fn confidence<'a>(cases: impl IntoIterator<Item = &'a CaseRecord>) -> Option<String> {
    let least = cases
        .into_iter()
        .filter_map(|case| Some(case.speedup.throughput?.confidence))
        .reduce(f64::min)?;
    Some(format!("{:.1} %", (least * 1000.0).floor() / 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_padded_and_its_figures_stand_to_the_right() {
        let rows =
            [vec!["a|b".to_owned(), "1 µs".to_owned()], vec!["c".to_owned(), "10 ms".to_owned()]];
        assert_eq!(
            table(&["what", "time"], rows),
            "| what |  time |\n|------|------:|\n| a\\|b |  1 µs |\n| c    | 10 ms |"
        );
    }

    #[test]
    fn a_command_is_told_without_the_place_of_its_program() {
        let words = ["target/release/lab", "bench", "--get", "/a b"].map(str::to_owned);
        assert_eq!(command_line(&words), "lab bench --get '/a b'");
    }
}
