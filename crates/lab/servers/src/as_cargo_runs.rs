//! How cargo runs a program: where, and with which environment. Cargo is asked, because it is the only one to say so
//! for each of its versions: variables of the package, of its build script and of your settings, and the library path.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, ensure};
use lab_system::Program;

use super::{cargo, checkout::cargo_home};

/// Cargo runs it in place of the program, with this script as its input: it writes down what cargo gave it.
const RUNNER: &str = "sh -s";
/// Variables that the shell or `lab` sets, not cargo.
const OTHERS: [&str; 5] = ["SHLVL", "OLDPWD", "_", "GIT_OPTIONAL_LOCKS", "CARGO_BUILD_BUILD_DIR"];

/// A program as cargo runs it.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    pub program: PathBuf,
    pub dir: PathBuf,
    /// The variables that differ from the environment of `lab`.
    pub env: BTreeMap<String, String>,
    pub unset: BTreeSet<String>,
}

/// Asks a `cargo run` or `cargo bench`, which has nothing to build any more. `files` is a directory for two files.
pub async fn ask(mut cargo: Command, triples: &[String], files: &Path) -> anyhow::Result<Ran> {
    let names: Vec<_> = triples.iter().map(|triple| variable(triple)).collect();
    cargo.envs(names.iter().map(|name| (name, RUNNER)));
    let [script, answer] = ["runner.sh", "ran"].map(|name| files.join(name));
    let quoted = shell_words::quote(answer.to_str().context("a path isn't UTF-8")?).into_owned();
    let text = format!("printf '%s\\0' \"$1\" \"$PWD\" >{quoted} && env -0 >>{quoted}\n");
    let _ = fs::remove_file(&answer);
    fs::write(&script, text).with_context(|| format!("cannot write {}", script.display()))?;
    Program::new(cargo, cargo::PATIENCE)
        .named("cargo")
        .reading(File::open(&script)?)
        .output()
        .await?;
    let answer = fs::read(&answer).context("cargo did not run the program")?;
    let mut fields =
        answer.split(|byte| *byte == 0).map(|field| OsString::from_vec(field.to_vec()));
    let (program, dir) = (fields.next(), fields.next().map(PathBuf::from));
    let (program, dir) = program.zip(dir).context("cargo ran nothing")?;
    ensure!(dir.is_dir(), "cargo ran it in {}, which is gone", dir.display());
    let its: BTreeMap<_, _> = fields.filter_map(|field| assignment(&field)).collect();
    let is_other = |name: &OsStr| {
        OTHERS.iter().any(|other| name == *other) || names.iter().any(|known| name == &**known)
    };
    let ours: BTreeMap<_, _> = env::vars_os().collect();
    let text = |word: &OsString| word.to_str().map(str::to_owned);
    let is_new = |(name, value): &(&OsString, &OsString)| ours.get(*name) != Some(*value);
    let differs = its.iter().filter(is_new).filter(|(name, _)| !is_other(name));
    let removed = ours.keys().filter(|name| !its.contains_key(*name) && !is_other(name));
    Ok(Ran {
        program: dir.join(program),
        env: differs.filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect(),
        unset: removed.filter_map(text).collect(),
        dir,
    })
}

/// Cargo's variable for what runs the programs of a target.
fn variable(triple: &str) -> String {
    let triple = triple.to_uppercase().replace(['-', '.'], "_");
    format!("CARGO_TARGET_{triple}_RUNNER")
}

/// A sentence on the program by which your settings have cargo run the programs of these targets, if they name one:
/// `lab` starts programs itself. `dir` is where cargo looks for its settings.
pub fn unused_runner(triples: &[String], dir: &Path) -> Option<String> {
    let mut names = triples.iter().map(|triple| variable(triple));
    let of_variable = names.find_map(|name| Some((env::var(&name).ok()?, name)));
    let (runner, place) = of_variable.or_else(|| {
        let homes = cargo_home().into_iter();
        let dirs = dir.ancestors().map(|dir| dir.join(".cargo")).chain(homes);
        // Cargo reads the first of these names.
        let mut files = dirs.flat_map(|dir| ["config", "config.toml"].map(|name| dir.join(name)));
        files.find_map(|file| of_settings(triples, &fs::read_to_string(file).ok()?))
    })?;
    Some(format!(
        "cargo would run it by `{runner}`, as {place} says, and `lab` starts it without that: to measure both, compare \
         commands with the runner in them instead of revisions"
    ))
}

/// The runner in a file of settings, and the name of the setting. Only cargo knows whether a `cfg(…)` applies, so any
/// is taken for one that does.
fn of_settings(triples: &[String], settings: &str) -> Option<(String, String)> {
    let settings: toml::Table = settings.parse().ok()?;
    let targets = settings.get("target")?.as_table()?;
    let is_one =
        |name: &str| name.starts_with("cfg(") || triples.iter().any(|triple| triple == name);
    targets.iter().filter(|(name, _)| is_one(name)).find_map(|(name, target)| {
        let runner = match target.get("runner")? {
            toml::Value::String(command) => command.clone(),
            toml::Value::Array(words) => {
                let words = words.iter().map(|word| word.as_str());
                shell_words::join(words.collect::<Option<Vec<_>>>()?)
            }
            _ => return None,
        };
        Some((runner, format!("`target.{name}.runner`")))
    })
}

fn assignment(field: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = field.as_encoded_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let part = |part: &[u8]| OsString::from_vec(part.to_vec());
    Some((part(&bytes[..at]), part(&bytes[at + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_of_the_users_settings_is_found_for_the_targets_that_are_built() {
        let triples = ["x86_64-unknown-linux-gnu".to_owned(), "release".to_owned()];
        let of = |settings: &str| of_settings(&triples, settings);
        let plain = "[target.x86_64-unknown-linux-gnu]\nrunner = \"taskset -c 2\"";
        let place = "`target.x86_64-unknown-linux-gnu.runner`";
        assert_eq!(of(plain), Some(("taskset -c 2".to_owned(), place.to_owned())));
        let listed = "[target.'cfg(target_os = \"linux\")']\nrunner = [\"run it\", \"-x\"]";
        let (runner, place) = of(listed).unwrap();
        assert_eq!(runner, "'run it' -x");
        assert_eq!(place, "`target.cfg(target_os = \"linux\").runner`");
        for other in [
            "",
            "not toml",
            "[build]\nrunner = \"x\"",
            "[target.aarch64-apple-darwin]\nrunner = \"x\"",
            "[target.x86_64-unknown-linux-gnu]\nlinker = \"x\"",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_runner_is_found_in_each_directory_above() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        fs::create_dir_all(dir.path().join(".cargo")).unwrap();
        let triples = ["riscv64gc-unknown-none-elf".to_owned()];
        let settings = "[target.riscv64gc-unknown-none-elf]\nrunner = \"qemu\"";
        fs::write(dir.path().join(".cargo/config.toml"), settings).unwrap();
        assert!(unused_runner(&triples, &below).unwrap().contains("by `qemu`"));
    }
}
