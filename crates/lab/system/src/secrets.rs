//! Keeps credentials out of what others read: records, reports, comments and messages.
//!
//! Nobody can say how credentials look. So the values of all headers and parameters are hidden, and the user of a URL.
//! A command line would say little without its values, so there the name of a flag or of a variable decides. The rest
//! is shown.

const HIDDEN: &str = "…";
/// A flag or a variable with one of these in its name has a credential.
const SECRET: [&str; 12] = [
    "auth", "bearer", "cookie", "cred", "jwt", "key", "pass", "private", "pwd", "secret", "sess",
    "token",
];
const BETWEEN_WORDS: [char; 6] = [' ', '\t', '\n', '\'', '"', '`'];
/// The characters before the first parameter: in the query, in a part of the path, and in the fragment.
const BEFORE_PARAMETERS: [char; 3] = ['?', ';', '#'];
const BETWEEN_PARAMETERS: [char; 4] = ['?', ';', '#', '&'];

/// The command line of this process without credentials.
pub fn own_command() -> Vec<String> {
    // A name of a file need not be text.
    without_headers(std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()))
}

fn without_headers(args: impl Iterator<Item = String>) -> Vec<String> {
    let (mut is_header, mut is_credential) = (false, false);
    let mut shown = Vec::new();
    for arg in args {
        shown.push(match arg.strip_prefix("--header=") {
            Some(header) => format!("--header={}", without_value(header)),
            None if is_header => without_value(&arg),
            None if is_credential && !arg.starts_with('-') => HIDDEN.to_owned(),
            None => without_secrets(&arg),
        });
        (is_header, is_credential) = (arg == "--header", announces_credential(&arg));
    }
    shown
}

fn without_value(header: &str) -> String {
    match header.split_once(':') {
        Some((name, _)) => format!("{name}: {HIDDEN}"),
        None => HIDDEN.to_owned(),
    }
}

/// A path, a URL, or a text or a command line with some, without their credentials.
pub fn without_secrets(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(BETWEEN_WORDS).unwrap_or(rest.len()));
        let next =
            after.find(|character| !BETWEEN_WORDS.contains(&character)).unwrap_or(after.len());
        let (space, next) = after.split_at(next);
        shown.push_str(&of_word(word));
        shown.push_str(space);
        rest = next;
        let quote = space.chars().last().filter(|character| !character.is_whitespace());
        // `NAME= x` is an empty value before another word.
        let has_value = !word.ends_with('=') || quote.is_some();
        if announces_credential(word) && has_value && !rest.is_empty() && !rest.starts_with('-') {
            let end = quote.map_or_else(|| rest.find(BETWEEN_WORDS), |quote| rest.find(quote));
            shown.push_str(HIDDEN);
            rest = &rest[end.unwrap_or(rest.len())..];
        }
    }
    shown
}

/// Whether the value of a credential follows this word: `--token x`, or `TOKEN='x y'`.
fn announces_credential(word: &str) -> bool {
    let name = word.strip_suffix('=').or(word.starts_with('-').then_some(word));
    name.is_some_and(is_secret)
}

/// Whether this is the name of a flag or of a variable with a credential.
fn is_secret(name: &str) -> bool {
    let lower = name.to_lowercase();
    let is_name = !name.contains(['=', '/', '?', ';', '&', '#', ':']);
    is_name && SECRET.iter().any(|word| lower.contains(word))
}

/// A word of a text, which may be or end with a path or a URL.
fn of_word(word: &str) -> String {
    if let Some((name, value)) = word.split_once('=')
        && is_secret(name)
        && !value.is_empty()
    {
        return format!("{name}={HIDDEN}");
    }
    let (mut shown, mut rest) = (String::new(), word);
    loop {
        let parameters = rest.find(BEFORE_PARAMETERS).unwrap_or(rest.len());
        let Some(scheme) = rest[..parameters].find("://") else { break };
        let (scheme, after) = rest.split_at(scheme + 3);
        let end = after.find('/').unwrap_or(after.len());
        let user = after[..end].rfind('@');
        shown.push_str(scheme);
        shown.push_str(if user.is_some() { HIDDEN } else { "" });
        rest = &after[user.unwrap_or_default()..];
    }
    let (path, parameters) = rest.split_at(rest.find(BEFORE_PARAMETERS).unwrap_or(rest.len()));
    shown.push_str(path);
    // The end of a question, or of a command in a script, has no path and no name of a parameter.
    let is_path = shown.contains('/');
    for parameter in parameters.split_inclusive(BETWEEN_PARAMETERS) {
        let text = parameter.trim_end_matches(BETWEEN_PARAMETERS);
        shown.push_str(&of_parameter(text, is_path));
        shown.push_str(&parameter[text.len()..]);
    }
    shown
}

/// `name=value`, or a value alone.
fn of_parameter(text: &str, is_path: bool) -> String {
    match text.split_once('=') {
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None if is_path && !text.is_empty() => HIDDEN.to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hides(text: &str, shown: &str) {
        assert_eq!(without_secrets(text), shown);
        assert_eq!(without_secrets(shown), shown, "hidden twice");
    }

    #[test]
    fn a_command_line_keeps_what_repeats_it_and_hides_credentials() {
        for (args, shown) in [
            (&["--header", "Authorization: Bearer x"][..], &["--header", "Authorization: …"][..]),
            (&["--header=Cookie: id=1", "a"], &["--header=Cookie: …", "a"]),
            (&["--header", "Bearer x"], &["--header", "…"]),
            (&["--header", "Accept: text/html"], &["--header", "Accept: …"]),
            (&["--header", "--header", "a: b"], &["--header", "…", "a: …"]),
            (&["--get=/a?key=x&b=c"], &["--get=/a?key=…&b=…"]),
            (&["PORT=80 ./server --port 80 2>&1"], &["PORT=80 ./server --port 80 2>&1"]),
            (&["./server '/?a=b'; wait"], &["./server '/?a=…'; wait"]),
            (&["./server --token=x --db-pwd y -v"], &["./server --token=… --db-pwd … -v"]),
            (&["API_KEY=x ./server --key 'a b' c"], &["API_KEY=… ./server --key '…' c"]),
            (&["TOKEN='a b' ./server"], &["TOKEN='…' ./server"]),
            (&["TOKEN= ./server --token -v"], &["TOKEN= ./server --token -v"]),
            (&["--", "--token", "x", "--auth", "-v"], &["--", "--token", "…", "--auth", "-v"]),
            (&["http://me:word@host/a?session=1 b"], &["http://…@host/a?session=… b"]),
        ] {
            let args = args.iter().map(|arg| (*arg).to_owned());
            assert_eq!(without_headers(args), shown);
        }
    }

    #[test]
    fn no_value_of_a_parameter_is_shown_whatever_it_looks_like() {
        for value in [
            "ada",
            "12",
            "item-500",
            "New%20York",
            "eyJhbGciOiJI.UzI1/NiJ9",
            "a=b==",
            "://",
            "ключ",
        ] {
            hides(&format!("/a?n={value}&m=2"), "/a?n=…&m=…");
            hides(&format!("/a;n={value}?m=2"), "/a;n=…?m=…");
            hides(&format!("/a#state={value}"), "/a#state=…");
            hides(&format!("http://host/?to=http://{value}"), "http://host/?to=…");
        }
        hides("/a?token", "/a?…");
        hides("--get=?n=ada", "--get=?n=…");
        hides("/?a&&b=", "/?…&&b=…");
        hides("/a?jwt=x'y", "/a?jwt=…'y");
    }

    #[test]
    fn no_user_of_a_url_is_shown() {
        hides("postgres://me:a?b@db/x", "postgres://…@db/x");
        hides("PROXY=http://me@a,http://you:x@b/c", "PROXY=http://…@a,http://…@b/c");
        hides("http://me@you@host", "http://…@host");
    }

    #[test]
    fn no_value_of_a_flag_or_variable_that_is_called_like_a_credential_is_shown() {
        for name in SECRET.map(str::to_owned).into_iter().chain(["x-api-key".to_owned()]) {
            for name in [name.clone(), name.to_uppercase(), format!("db_{name}")] {
                hides(&format!("a --{name} b c"), &format!("a --{name} … c"));
                hides(&format!("a --{name}=b c"), &format!("a --{name}=… c"));
                hides(&format!("{name}=b ./a"), &format!("{name}=… ./a"));
                hides(&format!("sh -c \"{name}=b ./a\""), &format!("sh -c \"{name}=… ./a\""));
            }
        }
    }

    #[test]
    fn what_has_no_header_no_user_and_no_parameter_is_shown() {
        for shown in [
            "/",
            "/users/12",
            "/files/report-2024-final.html",
            "http://127.0.0.1:8080/read",
            "http://host/@me",
            "what? it failed; see #12",
            "cd a; ./server --size=3 -v",
        ] {
            hides(shown, shown);
        }
    }
}
