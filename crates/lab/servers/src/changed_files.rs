//! Whether two commits have the same code: whether only files differ that say how it is built, or what it is.

use std::{ffi::OsStr, path::Path};

use toml::{Table, Value};

use super::{cargo_settings::flat, git};

/// The tables of dependencies. What they change is in the lock file, and in the features that cargo compiles.
const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
/// Settings of cargo that are compared as what they mean.
const COMPARED_SETTINGS: [&str; 5] = ["build", "env", "profile", "target", "unstable"];
/// Settings of cargo on which no build depends.
const IDLE_SETTINGS: [&str; 9] = [
    "alias",
    "cache",
    "cargo-new",
    "doc",
    "future-incompat-report",
    "http",
    "install",
    "net",
    "term",
];
/// Directories at the root of a repository that its host reads.
const OF_HOSTS: [&str; 4] = [".github", ".gitlab", ".circleci", ".forgejo"];

/// Whether the code of two commits is the same, as far as their files say it.
pub async fn have_same_code(top: &Path, [one, other]: [&str; 2]) -> anyhow::Result<bool> {
    let list =
        ["diff", "--name-only", "--no-renames", "--ignore-submodules=none", "-z", one, other];
    for path in git::fields(&git::bytes(top, &list).await?) {
        if says_how_to_build(&path) || is_for_people(&path) {
            continue;
        }
        let rest = match Path::new(&path).file_name().and_then(OsStr::to_str) {
            Some("Cargo.toml") => what_is_not_compared,
            Some("config" | "config.toml") if is_of_cargo(&path) => settings_not_compared,
            _ => return Ok(false),
        };
        let mut rests = Vec::new();
        for commit in [one, other] {
            let file = git::bytes(top, &["show", &format!("{commit}:{path}")]).await;
            // A commit without such settings has none.
            let text = String::from_utf8(file.unwrap_or_default()).ok();
            rests.push(text.and_then(|text| rest(&text)));
        }
        if rests[0].is_none() || rests[0] != rests[1] {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether what the file says is compared as what it means for a build.
fn says_how_to_build(path: &str) -> bool {
    let names = ["Cargo.lock", "rust-toolchain", "rust-toolchain.toml"];
    names.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// Whether the file has settings of cargo.
fn is_of_cargo(path: &str) -> bool {
    let names = [".cargo/config", ".cargo/config.toml"];
    names.iter().any(|end| path == *end || path.ends_with(&format!("/{end}")))
}

/// What settings of cargo say besides what is compared as what it means, and besides what no build depends on. The rest
/// may replace sources.
fn settings_not_compared(settings: &str) -> Option<Vec<(Vec<String>, Value)>> {
    let settings: Table = settings.parse().ok()?;
    let all = flat(&settings).into_iter();
    let is_rest = |path: &[String]| {
        let start = path.first().map_or("", String::as_str);
        !COMPARED_SETTINGS.contains(&start) && !IDLE_SETTINGS.contains(&start)
    };
    Some(all.filter(|(path, _)| is_rest(path)).map(|(path, value)| (path, value.clone())).collect())
}

/// Whether the file is for people or for the repository's host.
fn is_for_people(path: &str) -> bool {
    let mut parts = path.split('/');
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_of_host = parts.next().is_some_and(|first| OF_HOSTS.contains(&first));
    let is_source = path.split('/').any(|part| part == "src");
    is_of_host
        || !is_source
            && (name.ends_with(".md")
                || name.starts_with("LICENSE")
                || [".gitignore", ".gitattributes"].contains(&name))
}

/// What a manifest says besides dependencies, features, profiles and versions, which are compared as what they mean. Of a
/// dependency, its path stays: the code there is another one.
fn what_is_not_compared(manifest: &str) -> Option<Vec<(Vec<String>, Value)>> {
    let manifest: Table = manifest.parse().ok()?;
    let is_rest = |path: &[String]| {
        let path: Vec<_> = path.iter().map(String::as_str).collect();
        match &path[..] {
            ["profile" | "features", ..] => false,
            ["package", "version"] | ["workspace", "package", "version"] => false,
            [start @ .., key, _] | [start @ .., key, _, _]
                if DEPENDENCIES.contains(key) && holds_dependencies(start) =>
            {
                ["path", "package"].contains(path.last().unwrap_or(&""))
            }
            _ => true,
        }
    };
    let all = flat(&manifest).into_iter();
    Some(all.filter(|(path, _)| is_rest(path)).map(|(path, value)| (path, value.clone())).collect())
}

/// Whether tables of dependencies are here: at the top, in the workspace, or for a target.
fn holds_dependencies(start: &[&str]) -> bool {
    matches!(start, [] | ["workspace"] | ["target", _])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_says_more_than_how_to_build() {
        let start = "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        let is_same = |one: &str, other: &str| {
            what_is_not_compared(&format!("{start}{one}"))
                == what_is_not_compared(&format!("{start}{other}"))
        };
        for (one, other) in [
            ("[dependencies]\na = \"1\"", "[dependencies]\na = \"2\"\nb = { version = \"1\" }"),
            ("", "[profile.release]\nlto = true"),
            ("[target.'cfg(unix)'.dependencies.a]\nversion = \"1\"", ""),
            ("[features]\nx = []", "[features]\ny = []"),
        ] {
            assert!(is_same(one, other), "{one}");
        }
        for (one, other) in [
            ("", "rust-version = \"1.80\""),
            ("[dependencies]\na = { path = \"../a\" }", "[dependencies]\na = { path = \"../b\" }"),
            ("", "[[bin]]\nname = \"y\"\npath = \"other.rs\""),
            ("[lib]\ncrate-type = [\"dylib\"]", ""),
        ] {
            assert!(!is_same(one, other), "{other}");
        }
        assert_eq!(what_is_not_compared("not toml"), None);
    }

    #[test]
    fn a_page_for_people_is_no_code_unless_it_is_among_the_sources() {
        for path in ["README.md", "docs/a.md", "LICENSE-MIT", ".github/workflows/ci.yml"] {
            assert!(is_for_people(path), "{path}");
        }
        for path in ["src/page.md", "api/src/help.md", "main.rs", "templates/a.html", "github/a"] {
            assert!(!is_for_people(path) && !says_how_to_build(path), "{path}");
        }
        for path in ["Cargo.lock", "api/Cargo.lock"] {
            assert!(says_how_to_build(path), "{path}");
        }
        for path in [".cargo/config.toml", "api/.cargo/config"] {
            assert!(is_of_cargo(path), "{path}");
        }
        assert!(!is_of_cargo("config.toml") && !is_of_cargo("my.cargo/config.toml"));
    }

    #[test]
    fn settings_that_replace_sources_are_code() {
        let rest = |text: &str| settings_not_compared(text).unwrap();
        assert_eq!(rest("[build]\nrustflags = []\n[net]\noffline = true"), rest(""));
        for text in
            ["paths = [\"../x\"]", "[patch.crates-io]\na = { path = \"a\" }", "include = \"x\""]
        {
            assert_ne!(rest(text), rest(""), "{text}");
        }
    }
}
