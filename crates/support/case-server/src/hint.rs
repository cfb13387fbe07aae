//! What somebody who starts a server by hand can do with it, as the package's case file has it.

use std::{fmt::Write as _, path::Path};

use serde::Deserialize;

/// What [`main!`](crate::main!) knows about a server when it is compiled.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The binary's name.
    pub bin: &'static str,
    /// What its package does.
    pub description: &'static str,
    /// The text of the package's `case.toml`.
    pub case: &'static str,
    /// The package's directory.
    pub dir: &'static str,
}

/// The part of a case file that a hint needs. The laboratory reads and checks all of it.
#[derive(Deserialize)]
struct CaseFile {
    variants: Vec<String>,
    #[serde(default)]
    args: Vec<String>,
    request: Vec<FirstRequest>,
    #[serde(default)]
    companion: Vec<Companion>,
}

#[derive(Deserialize)]
struct FirstRequest {
    #[serde(default = "get")]
    method: String,
    path: String,
    /// The name of a file next to the case file.
    body: Option<String>,
    answer: Option<String>,
    bytes: Option<u64>,
}

/// A server that has to run before those of the case.
#[derive(Deserialize)]
struct Companion {
    name: String,
    bin: String,
}

fn get() -> String {
    "GET".to_owned()
}

impl About {
    /// One request to a server at `url`, and what the command prints; for a companion, the server that needs it.
    pub(crate) fn try_it(self, url: &str) -> String {
        let hint = |case: CaseFile| match case.companion.iter().find(|it| it.bin == self.bin) {
            Some(companion) => self.start_a_server(&case, companion, url),
            None => self.request(&case, url).unwrap_or_default(),
        };
        self.read().map_or_else(|error| error, hint)
    }

    /// How to start what the server needs, if it needs something.
    pub(crate) fn needs(self) -> Option<String> {
        let case = self.read().ok()?;
        let companion = case.companion.first().filter(|it| it.bin != self.bin)?;
        Some(format!(
            "First start what it needs, which prints the command for a server like this:\n    {}\n",
            cargo_run(&companion.bin)
        ))
    }

    fn read(self) -> Result<CaseFile, String> {
        toml::from_str(self.case).map_err(|error| format!("{}/case.toml: {error}", self.dir))
    }

    fn request(self, case: &CaseFile, url: &str) -> Option<String> {
        let FirstRequest { method, path, body, answer, bytes } = case.request.first()?;
        let mut curl = "curl".to_owned();
        if answer.is_none() {
            curl.push_str(" -sS");
        }
        if method != "GET" {
            let _ = write!(curl, " -X {method}");
        }
        if let Some(body) = body {
            let file = format!("@{}", Path::new(self.dir).join(body).display());
            let _ = write!(curl, " --data-binary {}", shell_words::quote(&file));
        }
        let _ = write!(curl, " {}", shell_words::quote(&format!("{url}{path}")));
        let (pipe, printed) = match (answer, bytes) {
            (Some(answer), _) => ("", answer.clone()),
            (None, bytes) => (" | wc -c", bytes.unwrap_or_default().to_string()),
        };
        Some(format!(
            "Try it in another terminal:\n    {curl}{pipe}\nThis prints:\n{}",
            indented(&printed)
        ))
    }

    fn start_a_server(self, case: &CaseFile, companion: &Companion, url: &str) -> String {
        let package = Path::new(self.dir).file_name().unwrap_or_default().display();
        let first = case.variants.first().map(String::as_str).unwrap_or_default();
        // Of the laboratory's arguments, those with which the server finds this one.
        let place = format!("{{{}}}", companion.name);
        let found = case.args.windows(2).filter(|pair| pair[1] == place);
        let args: String = found.map(|pair| format!(" {} {url}", pair[0])).collect();
        let run = cargo_run(&format!("{package}-{first}"));
        format!("A server that needs it, in another terminal:\n    {run} --{args}\n")
    }
}

fn cargo_run(bin: &str) -> String {
    format!("cargo run --release --bin {bin}")
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "http://127.0.0.1:4000";

    fn hint(bin: &'static str, case: &'static str) -> String {
        About { bin, description: "", case, dir: "/here/toy" }.try_it(URL)
    }

    #[test]
    fn the_first_request_is_a_command_with_what_it_prints() {
        let case = "variants = ['slow']\n\
                    request = [{ path = '/a?b=1&c=2', answer = \"x\\ny\\n\" }, { path = '/2', answer = '' }]";
        let expected = format!(
            "Try it in another terminal:\n    curl '{URL}/a?b=1&c=2'\nThis prints:\n    x\n    y\n"
        );
        assert_eq!(hint("toy-slow", case), expected);
    }

    #[test]
    fn of_an_answer_that_the_case_file_does_not_have_the_bytes_are_counted() {
        let case = "variants = ['slow']\n\
                    request = [{ path = '/', method = 'PUT', body = 'a b.json', bytes = 70, crc32 = '0' }]";
        let shown = hint("toy-slow", case);
        let command = format!("curl -sS -X PUT --data-binary '@/here/toy/a b.json' {URL}/ | wc -c");
        assert!(shown.contains(&command) && shown.ends_with(":\n    70\n"), "{shown}");
    }

    #[test]
    fn a_companion_shows_who_needs_it_and_the_server_shows_the_companion() {
        const CASE: &str = "variants = ['slow', 'fixed']\n\
                            args = ['--data', '{scratch}', '--stock', '{stock}']\n\
                            companion = [{ name = 'stock', bin = 'toy-stock' }]\n\
                            request = [{ path = '/', answer = '6' }]";
        let shown = hint("toy-stock", CASE);
        assert!(shown.ends_with(&format!("--bin toy-slow -- --stock {URL}\n")), "{shown}");
        let about = |bin| About { bin, description: "", case: CASE, dir: "/here/toy" };
        assert!(about("toy-fixed").needs().unwrap().ends_with("--bin toy-stock\n"));
        assert_eq!(about("toy-stock").needs(), None);
        assert!(hint("toy-fixed", CASE).contains("curl"));
    }

    #[test]
    fn a_broken_case_file_is_shown_as_such() {
        assert!(hint("toy-slow", "variants = 1").starts_with("/here/toy/case.toml: "));
    }
}
