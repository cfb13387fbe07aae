//! What a comparison says of the builds besides their code.

use std::{
    fs,
    process::{Command, Output},
};

use serde_json::{Value, json};

use crate::toy::{
    CALM, SHORT, STAND_IN, Toy, compare, ends, json, needs_python, prints, server, stderr, stdout,
};

/// The crates of the repository's registry, which is a directory, and what the lock file calls their checksums.
const VENDORED: [(&str, char); 2] = [("1.0.0", 'a'), ("1.1.0", 'b')];
const MANIFEST: &str = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                        [dependencies]\npinned = \"1\"\n[[bench]]\nname = \"steps\"\nharness = false\n";
const CONFIG: &str = "[source.crates-io]\nreplace-with = \"vendored\"\n\
                      [source.vendored]\ndirectory = \"vendor\"\n";

/// A repository with a bench and a crate of a registry.
struct Pinned(Toy);

impl Pinned {
    fn new() -> Self {
        let toy = Toy::new(&[]);
        for (version, checksum) in VENDORED {
            let dir = format!("vendor/pinned-{version}");
            let checksum = json!({ "files": {}, "package": checksum.to_string().repeat(64) });
            toy.write(&format!("{dir}/.cargo-checksum.json"), &checksum.to_string());
            let manifest = format!(
                "[package]\nname = \"pinned\"\nversion = \"{version}\"\n[features]\nmore = []\n"
            );
            toy.write(&format!("{dir}/Cargo.toml"), &manifest);
            toy.write(&format!("{dir}/src/lib.rs"), "pub const ANSWER: u8 = 6;");
        }
        toy.write(".cargo/config.toml", CONFIG);
        toy.write("Cargo.toml", MANIFEST);
        toy.write("src/lib.rs", "");
        toy.write("benches/steps.rs", "fn main() { println!(\"a step {}\", pinned::ANSWER); }");
        toy.write(".gitignore", "cache\ncrates\npids\ntarget\n");
        toy.git(&["init", "--quiet"]);
        toy.write("Cargo.lock", &lock_file("1.0.0"));
        Self(toy).commit("first")
    }

    fn commit(self, name: &str) -> Self {
        self.0.git(&["add", "--all"]);
        self.0.git(&["commit", "--quiet", "--message", name]);
        self.0.git(&["tag", name]);
        self
    }

    /// Commits this file, as it is next to the first commit.
    fn with(self, name: &str, files: &[(&str, &str)]) -> Self {
        self.0.git(&["checkout", "--quiet", "--force", "first"]);
        files.iter().for_each(|(path, text)| self.0.write(path, text));
        self.commit(name)
    }

    fn compare(&self, revisions: &[&str], args: &[&str]) -> Output {
        let mut lab = self.0.lab(&["compare", "--bench=steps", "--quick"]);
        lab.args(revisions.iter().flat_map(|name| ["--rev", name])).args(args);
        // Whoever tests may have such flags, and cargo would use no others.
        lab.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        lab.env("XDG_CACHE_HOME", self.0.path("cache")).output().unwrap()
    }

    fn differences(&self, revision: &str) -> Value {
        let output = self.compare(&["first", revision], &["--json"]);
        json(&output)["besides"].clone()
    }
}

fn lock_file(version: &str) -> String {
    let (_, checksum) = VENDORED.iter().find(|(vendored, _)| *vendored == version).unwrap();
    let checksum = checksum.to_string().repeat(64);
    format!(
        "version = 4\n\n[[package]]\nname = \"pinned\"\nversion = \"{version}\"\n\
         source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"{checksum}\"\n\n\
         [[package]]\nname = \"tiny\"\nversion = \"0.1.0\"\ndependencies = [\n \"pinned\",\n]\n"
    )
}

#[test]
fn a_comparison_says_that_only_the_lock_file_differs() {
    let repository = Pinned::new()
        .with("lock", &[("Cargo.lock", &lock_file("1.1.0"))])
        .with("third", &[("Cargo.lock", &lock_file("1.0.0").replace("version = 4", "version = 3"))])
        .with("code", &[("Cargo.lock", &lock_file("1.1.0")), ("src/lib.rs", "// code")]);
    let only = "only Cargo.lock differs: pinned 1.0.0 → 1.1.0";
    let output = repository.compare(&["first", "lock"], &[]);
    let screen = stdout(&output);
    assert!(screen.contains(&format!("\n  {only}\n")), "{screen}{}", stderr(&output));
    for (args, file) in [(&["--markdown", "it.md"][..], "it.md"), (&[], "target/lab/report.html")] {
        ends(&repository.0.lab(&[&["report"], args].concat()).output().unwrap(), 0);
        let text = repository.0.read(file);
        let fold = text.split_once("<details").unwrap().1;
        assert!(text.contains("nly Cargo.lock differs: pinned 1.0.0 → 1.1.0"), "{text}");
        assert!(fold.contains("crate pinned"), "{text}");
    }
    prints(&repository.compare(&["first", "lock"], &["-v"]), "crate pinned 1.0.0 1.1.0");
    // The candidates have names, and one that is like the baseline has no line.
    let several = repository.compare(&["first", "lock", "third", "code"], &[]);
    prints(&several, &format!("lock: {only}"));
    prints(&several, "code: besides code: pinned 1.0.0 → 1.1.0");
    assert!(!stdout(&several).contains("third: "), "{}", stdout(&several));
    let pinned = json!({ "aspect": "crate", "name": "pinned", "from": ["1.0.0"], "to": ["1.1.0"] });
    let [lock, third, code] = ["lock", "third", "code"].map(|name| repository.differences(name));
    assert_eq!(lock, json!({ "is_all": true, "differences": [pinned] }));
    assert_eq!(third, json!({ "differences": [] }));
    assert_eq!(code, json!({ "differences": [pinned] }));
}

#[test]
fn a_comparison_says_that_the_profile_flags_features_or_variables_differ() {
    let lto = format!("{MANIFEST}[profile.release]\nlto = \"thin\"\n");
    let more = MANIFEST.replace("\"1\"", "{ version = \"1\", features = [\"more\"] }");
    let flags =
        format!("{CONFIG}[build]\nrustflags = [\"-C\", \"debuginfo=1\"]\n[env]\nLEVEL = \"2\"\n");
    let repository = Pinned::new()
        .with("profile", &[("Cargo.toml", &lto), ("README.md", "Faster now.")])
        .with("features", &[("Cargo.toml", &more)])
        .with("flags", &[(".cargo/config.toml", &flags)]);
    let output = repository.compare(&["first", "profile", "features", "flags"], &[]);
    for line in [
        "profile: only the profile differs: lto false → thin",
        "features: only features differ: pinned/more added",
        "flags: only the build differs: rustflags none → -C debuginfo=1; 1 variable",
    ] {
        prints(&output, line);
    }
    let besides = repository.differences("flags");
    let [flags, variable] = &besides["differences"].as_array().unwrap()[..] else {
        panic!("two differences")
    };
    assert_eq!(flags["to"], json!(["-C", "debuginfo=1"]));
    assert_eq!([&variable["aspect"], &variable["name"]], ["environment", "LEVEL"]);
    // The flags of the environment are those of both, and cargo ignores the others.
    let mut lab = repository.0.lab(&["compare", "--bench=steps", "--quick", "--rev=first"]);
    lab.args(["--rev=flags", "--json"]).env("XDG_CACHE_HOME", repository.0.path("cache"));
    let own = json(&lab.env("RUSTFLAGS", "-C debuginfo=0").output().unwrap());
    assert_eq!(own["besides"]["differences"].as_array().unwrap().len(), 1, "{own}");
}

#[test]
fn two_commands_differ_in_size_libraries_and_allocator() {
    let toy = Toy::new(&[]);
    let plain = server(&toy, "");
    toy.write("empty.rs", "");
    let preloading = |name: &str| {
        let library = toy.path(name);
        let mut rustc = Command::new("rustc");
        rustc.args(["--crate-type=cdylib", "-Cpanic=abort"]).arg(toy.path("empty.rs"));
        ends(&rustc.arg("-o").arg(&library).output().unwrap(), 0);
        format!("LD_PRELOAD={} {plain}", library.display())
    };
    let mut larger = fs::read(STAND_IN).unwrap();
    larger.extend(vec![0; 4 << 20]);
    let copy = toy.path("target/bin/toy-slow");
    fs::write(&copy, larger).unwrap();
    let larger = plain.replace(STAND_IN, &copy.display().to_string());
    let besides = |one: &str, other: &str| {
        let output = compare(&toy, one, other, &["--get=/", "--json"]);
        json(&output)["besides"]["differences"].clone()
    };
    let [allocator, library] = ["libmimalloc.so.9", "libother.so"].map(preloading);
    let own = |allocator: &str| json!([{ "aspect": "allocator", "name": "allocator", "from": [allocator], "to": ["mimalloc"] }]);
    let found = besides(&plain, &allocator);
    assert!([own("glibc"), own("musl")].contains(&found), "{found}");
    let loaded =
        json!([{ "aspect": "library", "name": "libother.so", "from": [], "to": ["libother.so"] }]);
    assert_eq!(besides(&plain, &library), loaded);
    assert_eq!(besides(&plain, &plain), json!([]));
    let screen =
        toy.run(&[&["compare", &plain, &larger, "--get=/"], &SHORT[..4], &CALM[..]].concat());
    prints(&screen, "besides code: size ");
}

#[test]
fn nothing_is_said_of_scripts_with_python() {
    needs_python();
    let toy = Toy::new(&[]);
    let script = "python3 -m http.server {port}";
    let output =
        compare(&toy, script, &server(&toy, ""), &["--get=/", "--compare=status", "--json"]);
    assert_eq!(json(&output)["besides"], json!({ "differences": [] }));
}
