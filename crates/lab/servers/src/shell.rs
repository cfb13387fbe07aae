//! Refuses commands that need a shell. `lab` starts programs without a shell, so it says so instead of passing `>` or
//! `&` to the program.

use anyhow::bail;

use super::launch::assignment;

/// Words that only a shell has as commands.
const BUILT_IN: [&str; 12] =
    [".", "cd", "eval", "exec", "export", "for", "if", "set", "source", "ulimit", "umask", "while"];

/// Fails if a shell would do more with a command than split it into words. What is in quotes, or behind a backslash, is
/// an argument like any other.
pub fn ensure_plain(name: &str, command: &str) -> anyhow::Result<()> {
    let Some(found) = for_a_shell(command) else { return Ok(()) };
    let shown = lab_system::without_secrets(command);
    let quoted = shell_words::quote(&shown);
    let how = format!("to run it in a shell: sh -c {quoted}");
    if BUILT_IN.contains(&found) {
        bail!("the {name} command begins with `{found}`, which only a shell can do\n  {how}");
    }
    bail!(
        "the {name} command has `{found}` outside quotes, and `lab` starts programs without a shell\n  \
         {how}\n  to pass it to the program: '{found}'"
    );
}

/// The first piece of a command that has a meaning for a shell.
fn for_a_shell(command: &str) -> Option<&str> {
    let mut quote = None;
    // Where the word begins, and whether the program has come.
    let (mut start, mut is_program) = (0, true);
    let mut chars = command.char_indices();
    while let Some((at, character)) = chars.next() {
        let rest = &command[at..];
        match (quote, character) {
            (None | Some('"'), '\\') => drop(chars.next()),
            (Some(end), character) if character == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, character) if character.is_whitespace() => {
                let word = &command[start..at];
                if is_program && BUILT_IN.contains(&word) {
                    return Some(word);
                }
                is_program &= word.is_empty() || assignment(word).is_some();
                start = at + character.len_utf8();
            }
            (None, '<' | '>' | '|' | '&' | ';') => {
                return Some(run(rest, |character| "<>|&;".contains(character)));
            }
            (None, '(' | ')' | '`' | '*') => return Some(&rest[..1]),
            (None, '#') if at == start => return Some(&rest[..1]),
            (None, '~') if at == start || is_empty_value(&command[start..at]) => {
                return Some(run(rest, |character| !character.is_whitespace()));
            }
            (None, '$') if rest[1..].starts_with(|character: char| !character.is_whitespace()) => {
                return Some(variable(rest));
            }
            _ => {}
        }
    }
    None
}

/// Whether a word so far is `NAME=`.
fn is_empty_value(word: &str) -> bool {
    assignment(word).is_some_and(|(_, value)| value.is_empty())
}

/// `$NAME`, or another `$` with what follows it.
fn variable(rest: &str) -> &str {
    let name =
        run(&rest[1..], |character| character.is_ascii_alphanumeric() || character == '_').len();
    let other = rest[1..].chars().next().map_or(0, char::len_utf8);
    &rest[..1 + if name == 0 { other } else { name }]
}

/// The characters at the start that are like this.
fn run(text: &str, is_in: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|character| !is_in(character)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_shell_does_is_found() {
        for (command, found) in [
            ("./server > log", ">"),
            ("./server 2>&1", ">&"),
            ("./server >> log", ">>"),
            ("./server < in", "<"),
            ("./server | tee log", "|"),
            ("./server &", "&"),
            ("cd x && ./server", "cd"),
            ("A=1 exec ./server", "exec"),
            ("A=1 && ./server", "&&"),
            ("make; ./server", ";"),
            ("~/server", "~/server"),
            ("./server --dir ~/data", "~/data"),
            ("HOME=~ ./server", "~"),
            ("./server --dir $PWD", "$PWD"),
            ("PORT=$PORT ./server", "$PORT"),
            ("./server ${PORT}", "${"),
            ("./server $(date)", "$("),
            ("./server `date`", "`"),
            ("./server *.conf", "*"),
            ("(./server)", "("),
            ("./server # the new one", "#"),
            ("ulimit -n 10 && ./server", "ulimit"),
            ("./server 'a' \"b\" $C", "$C"),
        ] {
            assert_eq!(for_a_shell(command), Some(found), "{command}");
            let error = ensure_plain("baseline", command).unwrap_err().to_string();
            let shell = error.split_once("sh -c ").unwrap().1.lines().next().unwrap();
            assert_eq!(shell_words::split(shell).unwrap(), [command], "{error}");
        }
    }

    #[test]
    fn quotes_and_backslashes_make_an_argument_of_anything() {
        let special = "<>|&;()`*#~$ $PWD && cd";
        for command in [
            format!("./server '{special}'"),
            format!("./server --it=\"{special}\" ok"),
            r"./server \> \& \$PWD \~ \* \#".to_owned(),
            "A='$B' sh -c 'exec ./server > log'".to_owned(),
            "./server --listen [::]:{port} a~b a#b price=5$ --exec=cd x?y 'it'\"'\"'s'".to_owned(),
            "./exec cd".to_owned(),
            "{server} --port {port}".to_owned(),
        ] {
            ensure_plain("baseline", &command).unwrap();
            assert!(shell_words::split(&command).is_ok(), "{command}");
        }
    }
}
