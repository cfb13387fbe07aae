//! Where figures come from, in words, and links.

use std::path::Path;

use lab_system::Machine;

/// What was run, on which machine, and when.
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

/// What the two sides of a `lab compare` are: commands, URLs or revisions, and the paths that only one of them was
/// asked for.
pub fn sides(command: &[String]) -> Option<[String; 2]> {
    let values = |flag: &str| {
        let words = command.iter().zip(command.iter().skip(1).chain([command.first()?]));
        let value = |(word, next): (&String, &String)| match word.strip_prefix(flag)? {
            "" => Some(next.clone()),
            value => value.strip_prefix('=').map(str::to_owned),
        };
        Some(words.take_while(|(word, _)| *word != "--").filter_map(value).collect::<Vec<_>>())
    };
    if let [baseline, candidate] = &values("--rev")?[..] {
        return Some([baseline.clone(), candidate.clone()]);
    }
    let side = |name: &str| {
        let mut side = values(name)?;
        side.extend(values(&format!("{name}-url"))?);
        let paths = values(&format!("{name}-get"))?;
        side.extend(paths.iter().map(|path| format!("GET {path}")));
        (!side.is_empty()).then(|| side.join(" "))
    };
    Some([side("--baseline")?, side("--candidate")?])
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
    fn the_sides_of_a_comparison_are_in_its_command() {
        let of = |line: &str| sides(&shell_words::split(line).unwrap()).map(|it| it.join(" | "));
        let two = of("lab compare --baseline './a -p' --candidate=./b --get / --users 4");
        assert_eq!(two.as_deref(), Some("./a -p | ./b"));
        let running =
            "--baseline-url http://h --candidate-url http://h --baseline-get /a --candidate-get /b";
        assert_eq!(of(running).as_deref(), Some("http://h GET /a | http://h GET /b"));
        let revisions = of("lab compare --rev main --rev=HEAD --bin b -- --rev c");
        assert_eq!(revisions.as_deref(), Some("main | HEAD"));
        assert_eq!(of("lab bench hot-clone"), None);
    }

    #[test]
    fn a_command_is_shown_without_the_directory_of_its_program() {
        let words = ["target/release/lab", "bench", "--get", "/a b"].map(str::to_owned);
        assert_eq!(command_line(&words), "lab bench --get '/a b'");
    }
}
