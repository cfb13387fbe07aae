//! Keeps credentials out of what others read: records, reports, comments and messages.
//!
//! Nobody can list the names of all credentials. So of a query, a path parameter or a header, only the
//! names stay. A value stays only if it looks like words and small numbers, and its name like none of a
//! credential.

use super::harmless::{is_harmless, is_secret, is_token};

/// Headers whose values are no secrets.
const HARMLESS: [&str; 6] =
    ["accept", "accept-encoding", "accept-language", "content-type", "host", "user-agent"];
const HIDDEN: &str = "…";
const BETWEEN_WORDS: [char; 6] = [' ', '\t', '\n', '\'', '"', '`'];
/// What stands before a parameter in a URL.
const PARAMETER: [char; 4] = ['?', '&', ';', '#'];

/// The command line of this process without the values of headers, passwords in URLs, and other values
/// that may be credentials.
pub fn own_command() -> Vec<String> {
    // A name of a file need not be text.
    without_headers(std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()))
}

fn without_headers(args: impl Iterator<Item = String>) -> Vec<String> {
    let mut is_header = false;
    let shown = args.map(|arg| {
        let was_header = std::mem::replace(&mut is_header, arg == "--header");
        match arg.strip_prefix("--header=") {
            Some(header) => format!("--header={}", without_value(header)),
            None if was_header => without_value(&arg),
            None => without_secrets(&arg),
        }
    });
    shown.collect()
}

fn without_value(header: &str) -> String {
    match header.split_once(':') {
        Some((name, _)) if HARMLESS.contains(&name.trim().to_lowercase().as_str()) => header.into(),
        Some((name, _)) => format!("{name}: {HIDDEN}"),
        None => HIDDEN.to_owned(),
    }
}

/// A path, a URL, or a text or a command line with some, without their credentials.
pub fn without_secrets(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(BETWEEN_WORDS).unwrap_or(rest.len()));
        shown.push_str(&of_word(word));
        let next = after.find(|it| !BETWEEN_WORDS.contains(&it)).unwrap_or(after.len());
        let (space, next) = after.split_at(next);
        shown.push_str(space);
        rest = next;
        // The value of `--token x`, which may be quoted.
        if word.starts_with('-') && is_secret(word) && !word.contains('=') && !rest.starts_with('-')
        {
            let quote = space.chars().last().filter(|it| !it.is_whitespace());
            let end = quote.map_or_else(|| rest.find(BETWEEN_WORDS), |quote| rest.find(quote));
            shown.push_str(if rest.is_empty() { "" } else { HIDDEN });
            rest = &rest[end.unwrap_or(rest.len())..];
        }
    }
    shown
}

/// A word of a text: a path or a URL, maybe behind the name of a flag or a variable.
fn of_word(word: &str) -> String {
    match word.split_once('=') {
        Some((name, value)) if !name.contains(['/', '?', ';', '&', '#']) => {
            if is_secret(name) {
                format!("{name}={HIDDEN}")
            } else {
                format!("{name}={}", of_url(value))
            }
        }
        _ => of_url(word),
    }
}

fn of_url(url: &str) -> String {
    let (mut shown, mut rest) = (String::new(), url);
    while let Some(at) = rest.find("://") {
        let (scheme, after) = rest.split_at(at + 3);
        shown.push_str(scheme);
        let end = after.find('/').unwrap_or(after.len());
        let user = after[..end].rfind('@');
        shown.push_str(if user.is_some() { HIDDEN } else { "" });
        rest = &after[user.unwrap_or_default()..];
    }
    let (path, parameters) = rest.split_at(rest.find(PARAMETER).unwrap_or(rest.len()));
    let parts = path.split('/').map(|part| if is_token(part) { HIDDEN } else { part });
    shown.push_str(&parts.collect::<Vec<_>>().join("/"));
    for parameter in parameters.split_inclusive(PARAMETER) {
        let (text, separator) = match parameter.strip_suffix(PARAMETER) {
            Some(text) => (text, &parameter[text.len()..]),
            None => (parameter, ""),
        };
        shown.push_str(&of_parameter(text));
        shown.push_str(separator);
    }
    shown
}

/// `name=value`, or a value alone, which may end in `=`.
fn of_parameter(parameter: &str) -> String {
    let shown = |text| if is_harmless(text) { text } else { HIDDEN };
    match parameter.split_once('=') {
        Some((name, value)) if value.replace('=', "").is_empty() => {
            format!("{}={value}", shown(name))
        }
        Some((name, value)) if !is_secret(name) => format!("{name}={}", shown(value)),
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None => shown(parameter).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hides(text: &str, shown: &str) {
        assert_eq!(without_secrets(text), shown, "{text}");
    }

    #[test]
    fn a_command_line_keeps_what_repeats_it_and_hides_credentials() {
        for (args, shown) in [
            (&["--header", "Authorization: Bearer x"][..], &["--header", "Authorization: …"][..]),
            (&["--header=Cookie: id=1"], &["--header=Cookie: …"]),
            (&["--header", "Bearer x"], &["--header", "…"]),
            (&["--header", "Accept: text/html"], &["--header", "Accept: text/html"]),
            (&["--get", "/price?item=item-500&n=2"], &["--get", "/price?item=item-500&n=2"]),
            (&["--get=/a?api_key=x&b=c&Token=y"], &["--get=/a?api_key=…&b=c&Token=…"]),
            (&["./server --port 80 '/?a=b' 2>&1"], &["./server --port 80 '/?a=b' 2>&1"]),
            (&["./server --token=x --db-pwd y -v"], &["./server --token=… --db-pwd … -v"]),
            (&["TOKEN=x ./server --key 'a b' c"], &["TOKEN=… ./server --key '…' c"]),
            (&["http://me:word@host/a?session=1 b"], &["http://…@host/a?session=… b"]),
            (&["http://host/@me"], &["http://host/@me"]),
        ] {
            let args = args.iter().map(|arg| (*arg).to_owned());
            assert_eq!(without_headers(args), shown);
        }
    }

    #[test]
    fn only_words_and_small_numbers_stay() {
        for harmless in [
            "/",
            "/users/12",
            "/price?item=item-500",
            "/?q=New%20York&page=2&sort=name,desc",
            "/?a&b=",
            "/?from=2024-01-31&size=1.5&lang=en-US",
            "/?orderBy=price&v=v2",
            "/a;v=1/b;c=d?e#part-2",
            "/files/report-2024-final.html",
            "/js/app.3f9a8b2c4d5e6f70.js?v=20240131",
            "/?name=Zo%C3%AB&filter%5Bkind%5D=A4",
            "http://127.0.0.1:8080/read",
        ] {
            hides(harmless, harmless);
        }
        for name in [
            "jwt",
            "pwd",
            "password",
            "passphrase",
            "access_token",
            "api-key",
            "X-Amz-Signature",
            "sid",
            "PHPSESSID",
            "otp",
            "bearer",
            "ticket",
            "credential",
            "authCode",
            "client_secret",
            "csrf",
        ] {
            hides(&format!("/a?n=1&{name}=ada&m=2"), &format!("/a?n=1&{name}=…&m=2"));
            hides(&format!("/a;{name}=ada?m=2"), &format!("/a;{name}=…?m=2"));
        }
        for token in [
            "550e8400-e29b-41d4-a716-446655440000",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI",
            "4111111111111111",
            "4111-1111-1111-1111",
            "9f86d081884c7d65",
            "dGVzdA==",
            "p%40ss%21w0rd",
            "correct-horse-battery-staple-correct-horse",
            "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
            "qwrtzpsdfghj",
        ] {
            hides(&format!("/a?n={token}&m=2"), "/a?n=…&m=2");
            hides(&format!("/a?{token}"), if token.ends_with('=') { "/a?…==" } else { "/a?…" });
            hides(&format!("/a#state={token}"), "/a#state=…");
        }
        hides(
            "https://hooks.example/T00/B00/q7Zk2mXvN4pLw9RtY6sB",
            "https://hooks.example/T00/B00/…",
        );
        hides("/a?jwt=x'y", "/a?jwt=…'y");
        hides("postgres://me:a?b@db/x", "postgres://…@db/x");
    }
}
