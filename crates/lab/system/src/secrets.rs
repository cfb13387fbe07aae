//! Keeps credentials out of what others read: records, reports, comments and messages.
//!
//! Nobody can list how all credentials are called or look. So the values of all headers and parameters are hidden, and
//! the user of a URL. The rest is shown.

const HIDDEN: &str = "…";
const BETWEEN_WORDS: [char; 6] = [' ', '\t', '\n', '\'', '"', '`'];
/// What the first parameter of a path follows: in the query, in a part of the path, or in the fragment.
const BEFORE_PARAMETERS: [char; 3] = ['?', ';', '#'];
const BETWEEN_PARAMETERS: [char; 4] = ['?', ';', '#', '&'];

/// The command line of this process without credentials.
pub fn own_command() -> Vec<String> {
    // A name of a file need not be text.
    without_headers(std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()))
}

fn without_headers(args: impl Iterator<Item = String>) -> Vec<String> {
    let mut is_header = false;
    let mut shown = Vec::new();
    for arg in args {
        shown.push(match arg.strip_prefix("--header=") {
            Some(header) => format!("--header={}", without_value(header)),
            None if is_header => without_value(&arg),
            None => without_secrets(&arg),
        });
        is_header = arg == "--header";
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
    let mut shown = String::new();
    for part in text.split_inclusive(BETWEEN_WORDS) {
        let word = part.trim_end_matches(BETWEEN_WORDS);
        shown.push_str(&of_word(word));
        shown.push_str(&part[word.len()..]);
    }
    shown
}

/// A word of a text, which may be or end with a path or a URL.
fn of_word(word: &str) -> String {
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
