//! Where figures come from, in words, and links.

use std::path::Path;

use lab_system::Machine;

/// A sentence on the command, the machine and the day of a measurement.
pub fn origin(command: &[String], machine: &Machine, date: jiff::Timestamp) -> String {
    format!("`{}` on {machine}, {}", command_line(command), day(date))
}

pub fn day(date: jiff::Timestamp) -> String {
    date.strftime("%Y-%m-%d").to_string()
}

/// A command line without the directory of its program, which is of no use on another machine.
pub fn command_line(words: &[String]) -> String {
    let program = words.first().map(|program| program.rsplit('/').next().unwrap_or(program));
    let words = program.into_iter().chain(words.iter().skip(1).map(String::as_str));
    let lines = shell_words::join(words);
    lines.split('\n').map(lab_system::escaped).collect::<Vec<_>>().join("\n")
}

/// The path from a directory to a file, both absolute, as a link.
pub fn relative(from: &Path, to: &Path) -> String {
    let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(common).map(|_| "..".to_owned());
    let down = to.iter().skip(common).map(|part| part.to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_without_the_directory_of_its_program() {
        let words = ["target/release/lab", "bench", "--get", "/a b"].map(str::to_owned);
        assert_eq!(command_line(&words), "lab bench --get '/a b'");
    }
}
