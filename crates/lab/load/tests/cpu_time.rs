//! The CPU time of servers whose threads and processes come and go, against their own account.
#![cfg(target_os = "linux")]

use std::{
    env,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::Duration,
};

use lab_load::process::{CpuTime, is_alive, pids};
use nix::{
    sys::{
        resource::{UsageWho, getrusage},
        signal::{Signal, kill},
    },
    time::ClockId,
    unistd::Pid,
};

/// A process that runs [`server`].
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server, and waits until it is ready.
    fn start(kind: &str) -> Self {
        Self::with(Command::new(env::current_exe().unwrap()), kind)
    }

    fn with(mut command: Command, kind: &str) -> Self {
        command.args(["--exact", "server", "--ignored", "--nocapture"]).env("KIND", kind);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, output };
        server.read("ready");
        server
    }

    /// The rest of the next line that starts with this word.
    fn read(&mut self, word: &str) -> String {
        let lines = self.output.by_ref().lines().map(Result::unwrap);
        let mut found = lines.filter_map(|line| Some(line.strip_prefix(word)?.trim().to_owned()));
        found.next().unwrap()
    }

    /// Makes the server work. Returns the CPU time that this took by its own account.
    fn work(&mut self) -> Duration {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        Duration::from_micros(self.read("used").parse().unwrap())
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        // Fails if the system was told to forget children.
        let _ = self.child.wait();
    }
}

/// The CPU time that we find for a server's work, and its own account.
fn account(mut server: Server) -> (Option<Duration>, Duration) {
    let before = CpuTime::of(server.child.id()).unwrap();
    let own = server.work();
    let found = CpuTime::of(server.child.id()).unwrap().since(&before);
    server.end();
    (found, own)
}

fn burn(time: Duration) {
    let now = || Duration::from(ClockId::CLOCK_THREAD_CPUTIME_ID.now().unwrap());
    let end = now() + time;
    while now() < end {}
}

fn used(whose: UsageWho) -> Duration {
    let usage = getrusage(whose).unwrap();
    let micros = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
    Duration::from_micros((micros(usage.user_time()) + micros(usage.system_time())) as u64)
}

const WORK: Duration = Duration::from_millis(600);

#[test]
#[ignore = "the server that the other tests start"]
fn server() {
    let kind = env::var("KIND").unwrap();
    let workers = if kind.contains("workers") { 2 } else { 0 };
    let mut workers: Vec<_> = (0..workers).map(|_| Server::start("alone")).collect();
    let mut shell = (kind == "daemon").then(|| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 60 & read line"]).stdin(Stdio::piped()).spawn().unwrap()
    });
    println!("\nready");
    std::io::stdin().read_line(&mut String::new()).unwrap();

    let usage = || [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN].map(used);
    let [own, of_children] = usage();
    let mut of_workers = Duration::ZERO;
    match kind.as_str() {
        "threads" => (0..20).for_each(|_| thread::spawn(|| burn(WORK / 20)).join().unwrap()),
        "children" => (0..10).for_each(|_| Server::start("short").end()),
        "few children" => Server::start("short").end(),
        "workers" => of_workers = workers.iter_mut().map(Server::work).sum(),
        "ending workers" => {
            of_workers = workers.iter_mut().map(Server::work).sum();
            workers.drain(..).for_each(Server::end);
        }
        "daemon" => shell.take().unwrap().wait().map(drop).unwrap(),
        "short" => burn(WORK / 10),
        _ => burn(WORK),
    }
    let [own, of_children] = [usage()[0] - own, usage()[1] - of_children];
    // What ended workers have used includes their start.
    let others = if of_workers.is_zero() { of_children } else { of_workers };
    println!("used {}", (own + others).as_micros());
    std::io::stdin().read_line(&mut String::new()).unwrap();
    workers.into_iter().for_each(Server::end);
}

#[test]
fn cpu_time_includes_threads_and_children_that_have_ended() {
    for kind in ["threads", "children", "workers", "ending workers"] {
        let (found, own) = account(Server::start(kind));
        let found = found.unwrap_or_else(|| panic!("{kind}: no figure"));
        assert!(own >= WORK);
        assert!(found.abs_diff(own) < own / 10, "{kind}: {found:?} instead of {own:?}");
    }
}

#[test]
fn there_is_no_figure_where_the_system_counts_too_coarsely() {
    let (found, own) = account(Server::start("few children"));
    assert_eq!(found, None, "of {own:?}, and ended children are counted in steps of 10 ms");
}

#[test]
fn there_is_no_figure_where_the_system_drops_the_time_of_children() {
    let mut env = Command::new("env");
    env.arg("--ignore-signal=CHLD").arg(env::current_exe().unwrap());
    assert_eq!(account(Server::with(env, "children")).0, None);
}

#[test]
fn there_is_no_figure_without_a_child_that_left_the_family() {
    let server = Server::start("daemon");
    let family = pids(server.child.id());
    let (found, _) = account(server);
    for pid in family {
        if is_alive(pid) {
            kill(Pid::from_raw(pid as i32), Signal::SIGKILL).unwrap();
        }
    }
    assert_eq!(found, None);
}
