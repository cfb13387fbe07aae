//! The names of a user's own command: the title of its page, and the directory of its results.

use std::path::Path;

use lab_system::without_secrets;

/// A command as a title: programs and files without their directories.
pub fn title(command: &str) -> String {
    let words = shell_words::split(&without_secrets(command)).unwrap_or_default();
    let name = |word: &String| {
        Path::new(word).file_name().map_or(word.clone(), |name| name.to_string_lossy().into())
    };
    words.iter().map(name).collect::<Vec<String>>().join(" ")
}

/// The program of a command, without its arguments and the variables in front of it: what a line of progress has room
/// for.
pub fn short(command: &str) -> String {
    let title = title(command);
    let is_program = |word: &&str| !word.contains('=');
    title.split(' ').find(is_program).unwrap_or(&title).to_owned()
}

/// The longest name of a directory, without its mark.
const LONGEST: usize = 40;

/// The directory for the results of a command: its program, and the file that this runs, such as `node-server.js`.
/// A mark distinguishes commands of which the name leaves something out.
pub fn directory(command: &str) -> String {
    let shown = without_secrets(command);
    let whole = as_path(&shown);
    let name = if shown.contains("://") {
        as_path(shown.split_once("://").map_or(&shown, |(_, rest)| rest))
    } else {
        let title = title(&shown);
        let words = title.split(' ').take(2);
        let words: Vec<_> = words.take_while(|word| !word.starts_with('-')).collect();
        as_path(&words.join(" "))
    };
    let name: String = name.chars().take(LONGEST).collect();
    let name = name.trim_matches(['.', '-']);
    match name {
        "" => "server".to_owned(),
        name if name == whole => name.to_owned(),
        name => format!("{name}-{:04x}", mark(&shown)),
    }
}

/// Replaces each run of characters that a path should not have by a hyphen.
fn as_path(text: &str) -> String {
    let parts =
        text.split(|character: char| !(character.is_alphanumeric() || "._".contains(character)));
    parts.filter(|part| part.contains(char::is_alphanumeric)).collect::<Vec<_>>().join("-")
}

/// A hash that is the same for a text in every build of `lab` (FNV-1a).
fn mark(text: &str) -> u16 {
    let hash = text
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_results_and_a_title_of_its_own() {
        for (command, named, titled) in [
            ("lock-scope-slow", "lock-scope-slow", "lock-scope-slow"),
            ("python3 a.py", "python3-a.py", "python3 a.py"),
            ("./old/server -p {port}", "server-", "server -p {port}"),
            ("/opt/x/.hidden", "hidden-", ".hidden"),
            ("/a/b/gunicorn -w 1 app:app", "gunicorn-", "gunicorn -w 1 app:app"),
            ("node /srv/server.js --port 1", "node-server.js-", "node server.js --port 1"),
            ("http://127.0.0.1:8080/", "127.0.0.1-8080-", "127.0.0.1:8080"),
            ("../..", "server", "../.."),
            ("./server --token=x", "server-", "server --token=…"),
            ("./server /a?b=c", "server-a-b", "server a?b=…"),
        ] {
            let found = directory(command);
            let mark = found.strip_prefix(named).unwrap_or_else(|| panic!("{command}: {found}"));
            assert_eq!(mark.len(), if named.ends_with('-') { 4 } else { 0 }, "{found}");
            assert_eq!(title(command), titled);
        }
        assert_eq!(short("NODE_ENV=production /usr/bin/node app.js"), "node");
        let [old, new] = ["./old/server -p 1", "./new/server -p 1"].map(directory);
        assert_ne!(old, new);
        assert_eq!(directory(&"x".repeat(300)).len(), LONGEST + 5);
    }
}
