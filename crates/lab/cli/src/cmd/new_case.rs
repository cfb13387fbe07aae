//! `lab new-case`: a case that compiles and runs, and that `lab verify` refuses until it is real.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, ensure};
use lab_display::out;

use super::Places;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The name of the crate, in kebab-case
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// The files of a new case. `NAME` and `SNAKE` stand for its name, in paths and in texts.
const FILES: [(&str, &str); 11] = [
    ("crates/NAME/Cargo.toml", include_str!("new_case/Cargo.toml.txt")),
    ("crates/NAME/case.toml", include_str!("new_case/case.toml.txt")),
    ("crates/NAME/src/lib.rs", include_str!("new_case/lib.rs.txt")),
    ("crates/NAME/src/slow.rs", include_str!("new_case/variant.rs.txt")),
    ("crates/NAME/src/fixed.rs", include_str!("new_case/variant.rs.txt")),
    ("crates/NAME/src/bin/NAME-slow.rs", include_str!("new_case/bin.rs.txt")),
    ("crates/NAME/src/bin/NAME-fixed.rs", include_str!("new_case/bin.rs.txt")),
    ("crates/NAME/tests/same_answers.rs", include_str!("new_case/same_answers.rs.txt")),
    ("crates/NAME/tests/mechanism.rs", include_str!("new_case/mechanism.rs.txt")),
    ("benches/micro/SNAKE.rs", include_str!("new_case/bench.rs.txt")),
    ("docs/src/cases/NAME.md", include_str!("new_case/chapter.md.txt")),
];

/// The lists that name every case: the file, what the line before the new one holds, and the new one.
const LISTS: [(&str, &str, &str); 6] = [
    ("Cargo.toml", "members = [", "    \"crates/NAME\",\n"),
    ("Cargo.toml", "[workspace.dependencies]", "NAME = { path = \"crates/NAME\" }\n"),
    ("benches/Cargo.toml", "[dependencies]", "NAME.workspace = true\n"),
    (
        "benches/Cargo.toml",
        "path = \"micro/hot_clone.rs\"\nharness = false",
        "\n[[bench]]\nname = \"SNAKE\"\npath = \"micro/SNAKE.rs\"\nharness = false\n",
    ),
    ("docs/src/SUMMARY.md", "](cases/", "- [NAME](cases/NAME.md)\n"),
    ("docs/snippets/lib.rs", "\"cases/", "    SNAKE: \"cases/NAME.md\",\n"),
];

/// Writes the case, and says what to do next.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let root = places.workspace()?.root().to_owned();
    let name = Name::new(&options.name)?;
    for file in write(&root, &name)? {
        out!("  {}", file.display());
    }
    let name = &options.name;
    out!(
        "\n`{name}` compiles and runs: `just bench {name} --quick`.\n\
         Now write the fault, the fix and the counter. `just verify {name}` names what is left to do,\n\
         and docs/src/adding-a-case.md goes through the files one by one."
    );
    Ok(ExitCode::SUCCESS)
}

/// A case's name as the crate and as a Rust identifier.
struct Name {
    kebab: String,
    snake: String,
}

impl Name {
    fn new(kebab: &str) -> anyhow::Result<Self> {
        let is_word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        ensure!(
            kebab.split('-').all(is_word),
            "`{kebab}` cannot name a case: use lower-case words joined by `-`, such as `lock-scope`"
        );
        Ok(Self { kebab: kebab.to_owned(), snake: kebab.replace('-', "_") })
    }

    /// A template with the name filled in. `VARIANT` is the last word of the path that it is for.
    fn fill(&self, template: &str, path: &Path) -> String {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let variant = stem.rsplit('-').next().unwrap_or_default();
        template
            .replace("VARIANT", variant)
            .replace("SNAKE", &self.snake)
            .replace("NAME", &self.kebab)
    }
}

/// Writes all files and extends all lists, or changes nothing; returns what it wrote.
fn write(root: &Path, name: &Name) -> anyhow::Result<Vec<PathBuf>> {
    let mut contents: Vec<(PathBuf, String)> = Vec::new();
    for (path, template) in FILES {
        let path = PathBuf::from(name.fill(path, Path::new("")));
        ensure!(
            !root.join(&path).exists(),
            "{} exists already; choose another name",
            path.display()
        );
        let content = name.fill(template, &path);
        contents.push((path, content));
    }
    for (path, before, line) in LISTS {
        let path = PathBuf::from(path);
        let line = name.fill(line, Path::new(""));
        let known = contents.iter().position(|(other, _)| *other == path);
        let text = match known {
            Some(at) => contents.remove(at).1,
            None => fs::read_to_string(root.join(&path))
                .with_context(|| format!("cannot read {}", path.display()))?,
        };
        let at = text
            .rfind(before)
            .and_then(|at| Some(at + before.len() + text[at + before.len()..].find('\n')? + 1));
        let at = at.with_context(|| format!("{} has no line with `{before}`", path.display()))?;
        contents.push((path, format!("{}{line}{}", &text[..at], &text[at..])));
    }
    for (path, content) in &contents {
        let path = root.join(path);
        let dir = path.parent().context("every file is in a directory")?;
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(contents.into_iter().map(|(path, _)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists of this workspace, copied to an empty directory.
    fn lists() -> tempfile::TempDir {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let dir = tempfile::tempdir().unwrap();
        for (path, ..) in LISTS {
            fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            fs::copy(workspace.join(path), dir.path().join(path)).unwrap();
        }
        dir
    }

    #[test]
    fn a_new_case_is_on_every_list_and_can_be_read() {
        let dir = lists();
        write(dir.path(), &Name::new("blocked-worker").unwrap()).unwrap();
        let case = lab_model::Case::read(&dir.path().join("crates/blocked-worker/case.toml"));
        assert_eq!(case.unwrap().variants, ["slow", "fixed"]);
        for (path, _, line) in LISTS {
            let text = fs::read_to_string(dir.path().join(path)).unwrap();
            let line = line.replace("NAME", "blocked-worker").replace("SNAKE", "blocked_worker");
            assert!(text.contains(&line), "{path} lacks {line}");
        }
        let servers = dir.path().join("crates/blocked-worker/src/bin");
        let slow = fs::read_to_string(servers.join("blocked-worker-slow.rs")).unwrap();
        assert!(slow.contains("blocked_worker::slow::routes()"), "{slow}");
    }

    #[test]
    fn a_case_that_exists_is_left_alone() {
        let dir = lists();
        let name = Name::new("toy").unwrap();
        write(dir.path(), &name).unwrap();
        let before = fs::read_to_string(dir.path().join("Cargo.toml")).unwrap();
        let error = write(dir.path(), &name).unwrap_err();
        assert_eq!(error.to_string(), "crates/toy/Cargo.toml exists already; choose another name");
        assert_eq!(fs::read_to_string(dir.path().join("Cargo.toml")).unwrap(), before);
    }

    #[test]
    fn names_are_kebab_case() {
        for name in ["", "Toy", "two words", "-a", "a--b", "../a", "1st", "a_b"] {
            assert!(Name::new(name).is_err(), "{name}");
        }
        assert_eq!(Name::new("per-request2").unwrap().snake, "per_request2");
    }
}
