//! The profile that cargo builds a revision with: what the manifest says, then the revision's own settings of cargo, then
//! the environment, for the profile and for those that it inherits from.

use std::{collections::BTreeMap, env};

use toml::{Table, Value};

use super::cargo_settings::{flat, text};

/// What cargo does where nothing is said: <https://doc.rust-lang.org/cargo/reference/profiles.html>.
const RELEASE: [(&str, &str); 8] = [
    ("opt-level", "3"),
    ("debug", "false"),
    ("debug-assertions", "false"),
    ("overflow-checks", "false"),
    ("lto", "false"),
    ("panic", "unwind"),
    ("incremental", "false"),
    ("codegen-units", "16"),
];
const DEV: [(&str, &str); 8] = [
    ("opt-level", "0"),
    ("debug", "true"),
    ("debug-assertions", "true"),
    ("overflow-checks", "true"),
    ("lto", "false"),
    ("panic", "unwind"),
    ("incremental", "true"),
    ("codegen-units", "256"),
];
/// No chain of profiles is longer: one that inherits from itself is an error of cargo.
const LONGEST: usize = 8;

/// The values of a profile by their keys, such as `lto` or `package.serde.opt-level`. `tables` are the profiles of the
/// manifest and those of settings.
pub fn profile(name: &str, tables: [Option<&Table>; 2]) -> BTreeMap<String, String> {
    profile_with(name, tables, |name| env::var(name).ok())
}

fn profile_with(
    name: &str,
    tables: [Option<&Table>; 2],
    variable: impl Fn(&str) -> Option<String>,
) -> BTreeMap<String, String> {
    let of_profile = |name: &str| tables.map(|all| all?.get(name)?.as_table());
    let mut chain = vec![name.to_owned()];
    while let Some(parent) =
        parent(&chain[chain.len() - 1], of_profile).filter(|_| chain.len() < LONGEST)
    {
        chain.push(parent);
    }
    let is_dev = chain.last().is_some_and(|root| root == "dev");
    let defaults = if is_dev { DEV } else { RELEASE };
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let mut values: BTreeMap<_, _> = defaults.map(owned).into();
    for name in chain.iter().rev() {
        for (path, value) in of_profile(name).into_iter().flatten().flat_map(flat) {
            let key = path.join(".");
            values.insert(key.clone(), usual(&key, &text(value)));
        }
        for key in defaults.map(|(key, _)| key).into_iter().chain(["strip"]) {
            let of_environment =
                format!("CARGO_PROFILE_{name}_{key}").to_uppercase().replace('-', "_");
            let set = variable(&of_environment);
            values.extend(set.map(|value| (key.to_owned(), usual(key, &value))));
        }
    }
    values.remove("inherits");
    values
}

/// The profile that another one begins with.
fn parent<'a>(name: &str, of_profile: impl Fn(&str) -> [Option<&'a Table>; 2]) -> Option<String> {
    match name {
        "release" | "dev" => None,
        "bench" => Some("release".to_owned()),
        "test" => Some("dev".to_owned()),
        name => {
            let named = of_profile(name).into_iter().flatten().rev();
            named
                .filter_map(|table| table.get("inherits").and_then(Value::as_str))
                .next()
                .map(str::to_owned)
        }
    }
}

/// One of several ways to write a value.
fn usual(key: &str, value: &str) -> String {
    let value = match (key, value) {
        ("debug", "0" | "none") | ("strip", "none") => "false",
        ("debug", "2" | "full") => "true",
        ("debug", "1") => "limited",
        ("strip", "true") => "symbols",
        ("lto", "true") => "fat",
        (_, value) => value,
    };
    value.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, manifest: &str, settings: &str, variable: &str) -> BTreeMap<String, String> {
        let [manifest, settings] = [manifest, settings].map(|text| text.parse::<Table>().unwrap());
        profile_with(name, [Some(&manifest), Some(&settings)], |name| {
            let (its, value) = variable.split_once('=')?;
            (its == name).then(|| value.to_owned())
        })
    }

    #[test]
    fn a_profile_begins_with_the_one_that_it_inherits_from() {
        let manifest = "[release]\nlto = true\n[bench]\ndebug = 1\n[quick]\ninherits = \"dev\"";
        let bench = of("bench", manifest, "", "");
        assert_eq!(
            (&*bench["lto"], &*bench["debug"], &*bench["opt-level"]),
            ("fat", "limited", "3")
        );
        let quick = of("quick", manifest, "[quick]\nopt-level = 1", "");
        assert_eq!((&*quick["opt-level"], &*quick["overflow-checks"]), ("1", "true"));
        assert!(!quick.contains_key("inherits"));
        // Cargo refuses it, and this ends.
        of("loop", "[loop]\ninherits = \"loop\"", "", "");
    }

    #[test]
    fn settings_count_more_than_the_manifest_and_the_environment_more_than_both() {
        let [manifest, settings] = ["[release]\nlto = \"thin\"", "[release]\nlto = \"fat\""];
        assert_eq!(of("release", manifest, settings, "")["lto"], "fat");
        let variable = "CARGO_PROFILE_RELEASE_LTO=off";
        assert_eq!(of("release", manifest, settings, variable)["lto"], "off");
    }

    #[test]
    fn what_is_as_usual_is_no_difference() {
        let plain = of("release", "", "", "");
        let written = "[release]\nopt-level = 3\ndebug = \"none\"\ncodegen-units = 16\nlto = false";
        assert_eq!(of("release", written, "", ""), plain);
        assert_ne!(of("release", "[release.package.serde]\nopt-level = 1", "", ""), plain);
    }
}
