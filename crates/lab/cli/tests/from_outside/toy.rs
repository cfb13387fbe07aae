//! A workspace with one case, whose servers are stand-ins.

use std::{
    fs,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread::{panicking, sleep},
    time::{Duration, Instant},
};

use lab_system::process::is_alive;
use nix::{sys::signal::killpg, unistd::Pid};
use serde_json::Value;
use tempfile::TempDir;

pub use nix::sys::signal::Signal;

/// The shortest measurement that has answers on a busy machine.
pub const SHORT: [&str; 5] =
    ["--pairs=2", "--measurement=0.5", "--warm-up=0.1", "--open-loop=0", "-v"];

/// `lab` in English, whatever the locale of who tests.
pub fn lab() -> Command {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", "C.UTF-8");
    lab
}

/// A load that leaves the cores to other tests, for those that read no CPU time.
pub const CALM: [&str; 2] = ["--users=3", "--think-ms=2"];

/// Fails where no Python is. There, `just test` leaves out the tests with `with_python` in their names, and says so.
pub fn needs_python() {
    let found = Command::new("python3").arg("--version").output().is_ok();
    assert!(found, "this test needs python3");
}

/// A server that misbehaves on request: an example of this package, which `cargo test` builds too.
#[cfg(debug_assertions)]
pub const STAND_IN: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/../debug/examples/lab-stand-in");
#[cfg(not(debug_assertions))]
pub const STAND_IN: &str =
    concat!(env!("CARGO_TARGET_TMPDIR"), "/../release/examples/lab-stand-in");

/// One that speaks only HTTP/2.
pub fn http2_server(toy: &Toy, args: &str) -> String {
    let pids = toy.path("pids");
    format!("{STAND_IN}-http2 --port {{port}} --pid-dir {} {args}", pids.display())
}

/// Like `perf stat`: it answers commands, waits for the end of its processes and reports a count, here
/// $CALLS or else a number that differs each time. Leaves its arguments in the file `attached`.
pub const PERF: &str = r#"#!/bin/sh
echo "$@" >> attached
calls=${CALLS:-$(wc -l < attached)}
for command in disable enable disable; do read line && [ "$line" = $command ] && echo ack; done
for last; do :; done
while kill -0 $(echo $last | tr , ' ') 2> /dev/null; do sleep 0.02; done
echo "$calls,,raw_syscalls:sys_enter,1,100.00,," >&2
"#;

/// Dropped at the end of a test, it fails if a server still runs.
pub struct Toy {
    dir: TempDir,
}

impl Toy {
    /// A workspace whose servers get these arguments.
    pub fn new(args: &[&str]) -> Self {
        let toy = Self { dir: tempfile::tempdir().unwrap() };
        for dir in ["target/bin", "pids"] {
            fs::create_dir_all(toy.path(dir)).unwrap();
        }
        let pids = toy.path("pids").display().to_string();
        let args: Vec<_> = args.iter().copied().chain(["--pid-dir", &pids]).collect();
        let case = format!(
            "title = \"A stand-in\"\nquestion = \"Does it answer?\"\n\
             variants = [\"slow\", \"fixed\"]\nargs = {args:?}\nload = {{ users = 3 }}\n\
             [[request]]\npath = \"/\"\nanswer = \"6\"\n"
        );
        toy.write("crates/toy/case.toml", &case);
        for variant in ["toy-slow", "toy-fixed"] {
            fs::copy(STAND_IN, toy.path("target/bin").join(variant))
                .expect("built by `cargo build --examples`, and without `--test` by `cargo test`");
        }
        toy
    }

    /// Adds the case once more, in the directory `at`, which names it.
    pub fn copy_the_case(&self, at: &str) {
        self.write(&format!("{at}/case.toml"), &self.read("crates/toy/case.toml"));
        let name = Path::new(at).file_name().unwrap().display();
        for variant in ["slow", "fixed"] {
            let copy = self.path("target/bin").join(format!("{name}-{variant}"));
            fs::copy(STAND_IN, copy).unwrap();
        }
    }

    /// A workspace with a record, as a bench would leave it; no server runs for it.
    pub fn with_record() -> Self {
        let toy = Self::new(&[]);
        let record = include_str!("../../../report/tests/fixtures/record.json");
        let mut record: Value = serde_json::from_str(record).unwrap();
        let mut case = record["cases"][0].take();
        case["case"] = "toy".into();
        case["load"] = "3 users, without a pause".into();
        record["cases"] = Value::Array(vec![case]);
        toy.write("target/lab/runs/20261121T151556791Z.json", &record.to_string());
        toy
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Writes a file, and its directory if need be.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a script that stands in for a program.
    pub fn program(&self, path: &str, script: &str) {
        self.write(path, script);
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A `PATH` on which the programs of this toy come first.
    pub fn path_variable(&self) -> String {
        format!("{}:{}", self.path("programs").display(), std::env::var("PATH").unwrap())
    }

    /// `lab` with these arguments, run in the workspace.
    pub fn lab(&self, args: &[&str]) -> Command {
        let mut lab = lab();
        lab.current_dir(self.dir.path())
            .args(args)
            .args(["--bin-dir", "target/bin"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        lab
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.lab(args).output().unwrap()
    }

    pub fn bench(&self, args: &[&str]) -> Output {
        self.run(&[&["bench"], &SHORT[..], args].concat())
    }

    /// Runs git in the workspace; returns what it prints.
    pub fn git(&self, args: &[&str]) -> String {
        let identity = ["-c", "user.name=toy", "-c", "user.email=toy@example.org"];
        let mut git = Command::new("git");
        let done = git.args(identity).args(args).current_dir(self.path(".")).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", stderr(&done));
        stdout(&done)
    }

    /// The names in a directory, which need not exist.
    pub fn files(&self, dir: &str) -> Vec<String> {
        let entries = self.path(dir).read_dir().into_iter().flatten().flatten();
        let mut files: Vec<_> =
            entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        files.sort();
        files
    }

    /// The records that were kept.
    pub fn results(&self) -> Vec<String> {
        let names = self.files("target/lab/runs").into_iter();
        names.map(|name| format!("target/lab/runs/{name}")).collect()
    }

    /// The process ids of all servers that ever started.
    pub fn started(&self) -> Vec<u32> {
        self.files("pids").iter().map(|pid| pid.parse().unwrap()).collect()
    }

    pub fn wait_until_all_servers_ended(&self) {
        wait_until("all servers have ended", || self.all_servers_ended());
    }

    pub fn all_servers_ended(&self) -> bool {
        !self.started().into_iter().any(is_alive)
    }
}

impl Drop for Toy {
    fn drop(&mut self) {
        if !panicking() {
            self.wait_until_all_servers_ended();
        }
    }
}

/// A command: a stand-in that listens on the given port and leaves its process id in the toy's directory.
pub fn server(toy: &Toy, args: &str) -> String {
    format!("{STAND_IN} --port {{port}} --pid-dir {} {args}", toy.path("pids").display())
}

pub fn compare(toy: &Toy, baseline: &str, candidate: &str, args: &[&str]) -> Output {
    let sides = ["compare", baseline, candidate];
    toy.run(&[&sides[..], &SHORT[..], &CALM[..], args].concat())
}

/// A comparison of a server with itself.
pub fn with_itself(toy: &Toy, server: &str, args: &[&str]) -> Command {
    let sides = ["compare", server, server, "--get=/"];
    toy.lab(&[&sides[..], args].concat())
}

pub fn short(toy: &Toy, server: &str) -> Command {
    with_itself(toy, server, &[&SHORT[..], &CALM[..]].concat())
}

/// More than a whole comparison takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until something happens.
#[track_caller]
pub fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < end, "waited {PATIENCE:?} until {what}");
        sleep(Duration::from_millis(10));
    }
}

/// Starts `lab`, and once this has begun, sends a signal to its process group, as a terminal does.
/// `begun` gets its process id.
#[track_caller]
pub fn interrupt(lab: &mut Command, signal: Signal, begun: impl Fn(u32) -> bool) -> Output {
    let mut lab = lab.process_group(0).spawn().unwrap();
    let pid = lab.id();
    // One that ends first says why, and its exit code is not the expected one.
    let mut is_over = false;
    wait_until("`lab` has begun", || {
        is_over = lab.try_wait().unwrap().is_some();
        is_over || begun(pid)
    });
    if !is_over {
        killpg(Pid::from_raw(pid as i32), signal).unwrap();
    }
    lab.wait_with_output().unwrap()
}

/// Fails unless `lab` ended with this exit code.
#[track_caller]
pub fn ends(output: &Output, code: i32) {
    let status = output.status;
    assert_eq!(status.code(), Some(code), "{status}: {}{}", stdout(output), stderr(output));
}

/// Fails unless this is part of what `lab` wrote to standard error.
#[track_caller]
pub fn says(output: &Output, message: &str) {
    assert!(stderr(output).contains(message), "{message}: {}", stderr(output));
}

/// [`ends`], and [`says`].
#[track_caller]
pub fn fails(output: &Output, code: i32, message: &str) {
    ends(output, code);
    says(output, message);
}

/// Fails unless this is part of what `lab` printed, whatever the widths of its columns and lines.
#[track_caller]
pub fn prints(output: &Output, message: &str) {
    let text = stdout(output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(message), "{message}: {text}\n{}", stderr(output));
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The document that `lab` printed.
#[track_caller]
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}
