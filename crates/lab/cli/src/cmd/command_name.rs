//! What a reader's own command is called: on a page, and as a directory of results.

use std::path::Path;

use lab_system::without_secrets;

/// A command as a title: programs and files without their directories.
pub fn title(command: &str) -> String {
    let words = shell_words::split(&without_secrets(command)).unwrap_or_default();
    let name = |word: &String| {
        Path::new(word).file_name().map_or(word.clone(), |it| it.to_string_lossy().into())
    };
    words.iter().map(name).collect::<Vec<String>>().join(" ")
}

/// The program of a command, without its arguments and the variables in front of it: what a line of progress has room for.
pub fn short(command: &str) -> String {
    let title = title(command);
    let is_program = |word: &&str| !word.contains('=');
    title.split(' ').find(is_program).unwrap_or(&title).to_owned()
}

/// The directory for the results of a command: its text, with a hyphen for each run of characters that a
/// path should not have.
pub fn directory(command: &str) -> String {
    let shown = without_secrets(command);
    let parts = shown.split(|it: char| !(it.is_alphanumeric() || "._".contains(it)));
    let parts: Vec<_> = parts.filter(|part| part.contains(char::is_alphanumeric)).collect();
    let name = parts.join("-");
    // A file name has at most 255 bytes. The end of a command distinguishes it.
    let cut = name.char_indices().rev().nth(99).map_or(0, |(at, _)| at);
    if name.is_empty() {
        "server".to_owned()
    } else {
        name[cut..].trim_start_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_results_and_a_title_of_its_own() {
        for (command, named, titled) in [
            ("lock-scope-slow", "lock-scope-slow", "lock-scope-slow"),
            ("python3 a.py", "python3-a.py", "python3 a.py"),
            ("./old/server -p {port}", "old-server-p-port", "server -p {port}"),
            ("./new/server -p {port}", "new-server-p-port", "server -p {port}"),
            ("/opt/x/.hidden", "opt-x-.hidden", ".hidden"),
            ("../..", "server", "../.."),
            ("./server --token=x", "server-token", "server --token=…"),
        ] {
            assert_eq!((&*directory(command), &*title(command)), (named, titled));
        }
        assert_eq!(short("NODE_ENV=production /usr/bin/node app.js"), "node");
        assert_eq!(directory(&"x".repeat(300)).len(), 100);
    }
}
