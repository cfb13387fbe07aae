//! A workspace with one case, whose servers are stand-ins.

use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use lab_system::process::is_alive;
use nix::{
    sys::signal::{kill, killpg},
    unistd::Pid,
};
use serde_json::Value;
use tempfile::TempDir;

pub use nix::sys::signal::Signal;

/// The shortest possible measurement.
pub const SHORT: [&str; 4] = ["--pairs=2", "--measurement=0.2", "--warm-up=0.1", "--open-loop=0"];

/// A load that leaves the cores to other tests, for those that read no CPU time.
pub const CALM: [&str; 2] = ["--users=3", "--think-ms=2"];

/// A server that misbehaves on request: an example of this package, which `cargo test` builds too.
#[cfg(debug_assertions)]
pub const STAND_IN: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/../debug/examples/lab-stand-in");
#[cfg(not(debug_assertions))]
pub const STAND_IN: &str =
    concat!(env!("CARGO_TARGET_TMPDIR"), "/../release/examples/lab-stand-in");

pub struct Toy {
    dir: TempDir,
}

impl Toy {
    /// A workspace whose servers get these arguments.
    pub fn new(args: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let toy = Self { dir };
        let case = toy.path("crates/toy");
        std::fs::create_dir_all(&case).unwrap();
        std::fs::create_dir_all(toy.path("target/bin")).unwrap();
        std::fs::create_dir_all(toy.path("pids")).unwrap();
        let pids = toy.path("pids").display().to_string();
        let args: Vec<_> = args.iter().copied().chain(["--pid-dir", &pids]).collect();
        std::fs::write(
            case.join("case.toml"),
            format!(
                "title = \"A stand-in\"\nquestion = \"Does it answer?\"\n\
                 variants = [\"slow\", \"fixed\"]\nargs = {args:?}\nload = {{ users = 3 }}\n\
                 [[request]]\npath = \"/\"\nanswer = \"6\"\n"
            ),
        )
        .unwrap();
        for variant in ["toy-slow", "toy-fixed"] {
            std::fs::copy(STAND_IN, toy.path("target/bin").join(variant))
                .expect("built by `cargo test --examples`, and without `--test` by `cargo test`");
        }
        toy
    }

    /// Adds the case once more, under another name.
    pub fn copy_the_case(&self, name: &str) {
        std::fs::create_dir(self.path("crates").join(name)).unwrap();
        let file = |name: &str| self.path("crates").join(name).join("case.toml");
        std::fs::copy(file("toy"), file(name)).unwrap();
        for variant in ["slow", "fixed"] {
            let bin = |name: &str| self.path("target/bin").join(format!("{name}-{variant}"));
            std::fs::copy(bin("toy"), bin(name)).unwrap();
        }
    }

    /// A workspace with a record, as a bench would leave it; no server runs for it.
    pub fn with_record() -> Self {
        let toy = Self::new(&[]);
        let mut record: Value =
            serde_json::from_str(include_str!("../../../course/tests/fixtures/record.json"))
                .unwrap();
        let mut case = record["cases"][0].take();
        case["case"] = "toy".into();
        case["load"] = "3 users, without a pause".into();
        record["cases"] = Value::Array(vec![case]);
        std::fs::create_dir_all(toy.path("target/lab/runs")).unwrap();
        let path = toy.path("target/lab/runs/20261121T151556791Z.json");
        std::fs::write(path, record.to_string()).unwrap();
        toy
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// `lab` with these arguments, run in the workspace.
    pub fn lab(&self, args: &[&str]) -> Command {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
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

    /// Writes a script that stands in for a program; see [`Toy::path_variable`].
    pub fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path("programs").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A `PATH` on which the programs of this toy come first.
    pub fn path_variable(&self) -> String {
        format!("{}:{}", self.path("programs").display(), std::env::var("PATH").unwrap())
    }

    /// Runs git in the workspace; returns what it prints.
    pub fn git(&self, args: &[&str]) -> String {
        let identity = ["-c", "user.name=toy", "-c", "user.email=toy@example.org"];
        let mut git = Command::new("git");
        let done = git.args(identity).args(args).current_dir(self.path(".")).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", stderr(&done));
        stdout(&done)
    }

    pub fn results(&self) -> Vec<PathBuf> {
        let Ok(entries) = self.path("target/lab/runs").read_dir() else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The process ids of all servers that ever started.
    pub fn started(&self) -> Vec<u32> {
        let entries = self.path("pids").read_dir().unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect()
    }

    pub fn wait_for_a_server(&self) {
        wait_until("a server runs", || !self.started().is_empty());
    }

    pub fn wait_until_all_servers_ended(&self) {
        wait_until("all servers have ended", || self.all_servers_ended());
    }

    pub fn all_servers_ended(&self) -> bool {
        !self.started().into_iter().any(is_alive)
    }
}

/// The processes that the main thread of a process has started.
pub fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    list.unwrap_or_default().split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Waits until something happens; fails after 30 seconds.
pub fn wait_until(what: &str, happened: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !happened() {
        assert!(Instant::now() < end, "waited 30 s until {what}");
        sleep(Duration::from_millis(10));
    }
}

/// Fails unless `lab` ended with this exit code.
#[track_caller]
pub fn ends(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}{}", stdout(output), stderr(output));
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

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn send(signal: Signal, pid: u32) {
    kill(Pid::from_raw(pid as i32), signal).unwrap();
}

/// What `lab` printed to standard output.
#[track_caller]
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}

/// To a process and the others of its group, as a terminal does.
pub fn send_to_group(signal: Signal, pid: u32) {
    killpg(Pid::from_raw(pid as i32), signal).unwrap();
}
