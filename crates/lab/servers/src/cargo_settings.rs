//! The settings of cargo that a revision has in `.cargo/config.toml`, as far as its build or its program depends on them.

use std::{collections::BTreeMap, fs, path::Path};

use lab_protocol::{BuildAspect, BuildDifference};
use lab_system::without_secrets;
use toml::{Table, Value};

/// What a build depends on below `build`, besides flags.
const OF_BUILD: [&str; 5] =
    ["target", "rustc", "rustc-wrapper", "rustc-workspace-wrapper", "incremental"];
/// What says how a program is run or documented, which `lab` does itself or not at all.
const NOT_OF_BUILD: [&str; 2] = ["runner", "rustdocflags"];

/// The settings of a revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CargoSettings(Table);

impl CargoSettings {
    /// Those of `dir` and of the directories above it in `tree`. Above the tree, all revisions find the same.
    pub fn read(dir: &Path, tree: &Path) -> Self {
        let mut settings = Table::new();
        for dir in dir.ancestors().take_while(|dir| dir.starts_with(tree)) {
            // Cargo reads the first of these names.
            let mut files =
                ["config", "config.toml"].map(|name| dir.join(".cargo").join(name)).into_iter();
            let found = files.find_map(|file| fs::read_to_string(file).ok()?.parse().ok());
            merge(&mut settings, found.unwrap_or_default());
        }
        Self(settings)
    }

    pub fn profiles(&self) -> Option<&Table> {
        self.0.get("profile")?.as_table()
    }

    /// What differs. With flags in the environment of `lab`, cargo ignores those of settings.
    pub fn differences(
        &self,
        other: &Self,
        host: &str,
        has_own_flags: bool,
    ) -> Vec<BuildDifference> {
        let [from, to] = [self, other].map(|settings| settings.relevant(host));
        let mut keys: Vec<_> = from.keys().chain(to.keys()).collect();
        keys.sort();
        keys.dedup();
        let difference = |key: &(BuildAspect, String)| {
            let (aspect, name) = key;
            let [from, to] = [&from, &to].map(|all| all.get(key).cloned().unwrap_or_default());
            let found = BuildDifference::of_lists(*aspect, name, from, to)?;
            // After the comparison: two secrets differ, although both are shown alike.
            Some(if *aspect == BuildAspect::Environment { hidden(found) } else { found })
        };
        let is_used = |difference: &BuildDifference| {
            difference.aspect != BuildAspect::Flags || !has_own_flags
        };
        keys.into_iter().filter_map(difference).filter(is_used).collect()
    }

    /// The settings that decide, each as a list.
    fn relevant(&self, host: &str) -> BTreeMap<(BuildAspect, String), Vec<String>> {
        let mut found = BTreeMap::new();
        for (path, value) in flat(&self.0) {
            let path: Vec<_> = path.iter().map(String::as_str).collect();
            if let Some((aspect, name)) = aspect(&path, host) {
                let words = match value {
                    Value::Array(words) => words.iter().map(text).collect(),
                    Value::String(line) if aspect == BuildAspect::Flags => {
                        line.split_whitespace().map(str::to_owned).collect()
                    }
                    value => vec![text(value)],
                };
                found.insert((aspect, name), words);
            }
        }
        found
    }
}

/// The values of a variable, without what may be a secret.
fn hidden(variable: BuildDifference) -> BuildDifference {
    let hide = |value: &String| {
        let assignment = without_secrets(&format!("{}={value}", variable.name));
        assignment.split_once('=').map_or("", |(_, value)| value).to_owned()
    };
    let [from, to] = [&variable.from, &variable.to].map(|all| all.iter().map(hide).collect());
    BuildDifference { from, to, ..variable }
}

/// What a setting is about, and its name; `None` if no build depends on it.
fn aspect(path: &[&str], host: &str) -> Option<(BuildAspect, String)> {
    let named = |aspect| Some((aspect, path.join(".")));
    match path {
        ["env", name] | ["env", name, "value"] => {
            Some((BuildAspect::Environment, (*name).to_owned()))
        }
        ["target", target, ..] if *target != host && !target.starts_with("cfg(") => None,
        [.., last] if NOT_OF_BUILD.contains(last) => None,
        ["build" | "target", .., "rustflags"] => named(BuildAspect::Flags),
        ["build", name] if OF_BUILD.contains(name) => named(BuildAspect::Setting),
        ["target" | "unstable", ..] => named(BuildAspect::Setting),
        _ => None,
    }
}

/// Adds what only a file further up says. Of lists, both parts count.
fn merge(near: &mut Table, far: Table) {
    for (key, far) in far {
        match (near.get_mut(&key), far) {
            (Some(Value::Table(near)), Value::Table(far)) => merge(near, far),
            (Some(Value::Array(near)), Value::Array(mut far)) => {
                far.append(near);
                *near = far;
            }
            (Some(_), _) => {}
            (None, far) => drop(near.insert(key, far)),
        }
    }
}

/// Every value that is no table, by the keys that lead to it.
pub fn flat(table: &Table) -> Vec<(Vec<String>, &Value)> {
    let mut all = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(below) => {
                for (mut path, value) in flat(below) {
                    path.insert(0, key.clone());
                    all.push((path, value));
                }
            }
            value => all.push((vec![key.clone()], value)),
        }
    }
    all
}

/// A value as one would say it: a string without its quotes.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "x86_64-unknown-linux-gnu";

    fn settings(text: &str) -> CargoSettings {
        CargoSettings(text.parse().unwrap())
    }

    fn differences(from: &str, to: &str) -> Vec<String> {
        let all = settings(from).differences(&settings(to), HOST, false);
        let shown = |it: BuildDifference| {
            format!("{:?} {}: {} -> {}", it.aspect, it.name, it.from.join(" "), it.to.join(" "))
        };
        all.into_iter().map(shown).collect()
    }

    #[test]
    fn flags_variables_and_other_settings_of_the_build_differ() {
        let flags = "[build]\nrustflags = [\"-C\", \"target-cpu=native\"]";
        let expected = "Flags build.rustflags:  -> -C target-cpu=native";
        assert_eq!(differences("", flags), [expected]);
        let line = "[build]\nrustflags = \"-C  target-cpu=native\"";
        assert_eq!(differences(line, flags), [""; 0], "the same words");
        let linker = format!("[target.{HOST}]\nlinker = \"clang\"");
        let expected = format!("Setting target.{HOST}.linker: clang -> ");
        assert_eq!(differences(&linker, ""), [expected]);
        let variables = "[env]\nA = \"2\"\nB = { value = \"x\", force = true }\nTOKEN = \"abc\"";
        let found = differences("[env]\nA = \"1\"\nTOKEN = \"x\"", variables);
        let secret = "Environment TOKEN: … -> …";
        assert_eq!(found, ["Environment A: 1 -> 2", "Environment B:  -> x", secret]);
    }

    #[test]
    fn what_no_build_depends_on_is_no_difference() {
        for text in [
            "[alias]\nb = \"build\"",
            "[net]\noffline = true",
            "[build]\njobs = 1",
            "[target.aarch64-apple-darwin]\nrustflags = [\"-x\"]",
            "[target.'cfg(unix)']\nrunner = \"sudo\"",
            "[env.A]\nforce = true",
        ] {
            assert_eq!(differences("", text), [""; 0], "{text}");
        }
        let [one, other] = ["", "[build]\nrustflags = [\"-x\"]"].map(settings);
        assert_eq!(one.differences(&other, HOST, true), [], "cargo ignores them");
    }

    #[test]
    fn a_file_further_up_adds_to_lists_and_says_what_the_near_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a");
        let write = |dir: &Path, text: &str| {
            fs::create_dir_all(dir.join(".cargo")).unwrap();
            fs::write(dir.join(".cargo/config.toml"), text).unwrap();
        };
        write(dir.path(), "[build]\nrustflags = [\"-a\"]\ntarget = \"x\"\nincremental = true");
        write(&below, "[build]\nrustflags = [\"-b\"]\ntarget = \"y\"");
        let both = "[build]\nincremental = true\nrustflags = [\"-a\", \"-b\"]\ntarget = \"y\"";
        assert_eq!(CargoSettings::read(&below, dir.path()), settings(both));
        let near = "[build]\nrustflags = [\"-b\"]\ntarget = \"y\"";
        assert_eq!(CargoSettings::read(&below, &below), settings(near));
    }
}
