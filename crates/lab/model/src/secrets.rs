//! Keeps credentials out of what others read: records, reports, comments and messages.

/// Headers whose values are no secrets.
const HARMLESS: [&str; 6] =
    ["accept", "accept-encoding", "accept-language", "content-type", "host", "user-agent"];
/// A query parameter with one of these in its name is a secret.
const SECRET: [&str; 8] = ["token", "key", "secret", "pass", "sig", "auth", "session", "code"];
const HIDDEN: &str = "***";

/// The command line of this process without the values of headers, passwords in URLs, and query
/// parameters that look like credentials.
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
        Some((name, _)) if !HARMLESS.contains(&name.trim().to_lowercase().as_str()) => {
            format!("{name}: {HIDDEN}")
        }
        _ => header.to_owned(),
    }
}

/// A path, a URL, or a text with some, without their credentials.
pub fn without_secrets(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    // In a URL, what is between `//` and `@`.
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        let end = after.find(['/', '?', ' ', '\'', '"']).unwrap_or(after.len());
        shown.push_str(before);
        rest = match after[..end].rfind('@') {
            Some(at) => {
                shown.push_str(HIDDEN);
                &after[at..]
            }
            None => after,
        };
    }
    let text = shown + rest;
    let mut shown = String::new();
    for (index, part) in text.split_inclusive(['?', '&']).enumerate() {
        let is_secret =
            |name: &str| index > 0 && SECRET.iter().any(|word| name.to_lowercase().contains(word));
        match part.split_once('=') {
            Some((name, value)) if is_secret(name) => {
                let end = value.find(['&', '?', '#', ' ', '\'', '"']).unwrap_or(value.len());
                shown.push_str(&format!("{name}={HIDDEN}{}", &value[end..]));
            }
            _ => shown.push_str(part),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_keeps_what_repeats_it_and_hides_credentials() {
        for (args, shown) in [
            (&["--header", "Authorization: Bearer x"][..], &["--header", "Authorization: ***"][..]),
            (&["--header=Cookie: id=1"], &["--header=Cookie: ***"]),
            (&["--header", "Accept: text/html"], &["--header", "Accept: text/html"]),
            (&["--get", "/price?item=item-500&n=2"], &["--get", "/price?item=item-500&n=2"]),
            (&["--get", "/a?api_key=x&b=c&Token=y"], &["--get", "/a?api_key=***&b=c&Token=***"]),
            (&["./server --token=x '/?a=b'"], &["./server --token=x '/?a=b'"]),
            (&["http://me:word@host/a?session=1 b"], &["http://***@host/a?session=*** b"]),
            (&["http://host/@me", "key=1"], &["http://host/@me", "key=1"]),
        ] {
            let args = args.iter().map(|arg| (*arg).to_owned());
            assert_eq!(without_headers(args), shown);
        }
    }
}
