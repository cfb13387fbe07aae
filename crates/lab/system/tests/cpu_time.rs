//! The CPU time of servers whose threads and processes come and go. This process is the server: what
//! we find for it must agree with its own account.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use lab_system::process::CpuTime;
use nix::{
    sys::{
        resource::{UsageWho, getrusage},
        signal::{Signal, kill},
        time::TimeValLike as _,
    },
    time::ClockId,
    unistd::Pid,
};

fn start(program: &str, args: &[&str]) -> Child {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// A process that works when it is asked, and ends with its standard input.
fn worker() -> Child {
    const WORK: &str = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo";
    start("sh", &["-c", &format!("while read line; do {WORK}; done")])
}

fn work(worker: &mut Child) {
    worker.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    line(worker);
}

fn burn(time: Duration) {
    let now = || Duration::from(ClockId::CLOCK_THREAD_CPUTIME_ID.now().unwrap());
    let end = now() + time;
    while now() < end {}
}

/// The CPU time of this process and its ended children.
fn used() -> Duration {
    let times = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN].map(|whose| {
        let usage = getrusage(whose).unwrap();
        (usage.user_time() + usage.system_time()).num_microseconds() as u64
    });
    Duration::from_micros(times.iter().sum())
}

/// What we find for some work, and the own account. The workers end after that and before this.
fn account(
    mut workers: Vec<Child>,
    work: impl FnOnce(&mut [Child]),
) -> (Option<Duration>, Duration) {
    let pid = std::process::id();
    let (before, own) = (CpuTime::of(pid).unwrap(), used());
    work(&mut workers);
    let found = CpuTime::of(pid).unwrap().since(&before);
    workers.into_iter().for_each(end);
    (found, used() - own)
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// One test, because another one's children would be this process's too.
#[test]
fn cpu_time_is_the_servers_own_account_or_absent() {
    const WORK: Duration = Duration::from_millis(30);
    let threads = || (0..20).for_each(|_| thread::spawn(|| burn(WORK)).join().unwrap());
    let child = || {
        let mut child = worker();
        work(&mut child);
        end(child);
    };
    let accounts = [
        ("a thread per request", account(vec![], |_| threads())),
        ("a process per request", account(vec![], |_| (0..10).for_each(|_| child()))),
        ("workers", account(vec![worker(), worker()], |workers| workers.iter_mut().for_each(work))),
    ];
    for (server, (found, own)) in accounts {
        let found = found.unwrap_or_else(|| panic!("{server}: no figure"));
        assert!(found.abs_diff(own) < own / 10, "{server}: {found:?} instead of {own:?}");
    }

    let (found, own) =
        account(vec![], |_| assert!(Command::new("true").status().unwrap().success()));
    assert_eq!(found, None, "of {own:?}, and ended children are counted in steps of 10 ms");

    let mut parent = start("sh", &["-c", "sleep 60 >&2 & echo $!; read line"]);
    let daemon = line(&mut parent).parse().unwrap();
    let (found, _) = account(vec![], |_| {
        end(parent);
        burn(20 * WORK);
    });
    kill(Pid::from_raw(daemon), Signal::SIGKILL).unwrap();
    assert_eq!(found, None, "a child has left the family");

    let server = start("env", &["--ignore-signal=CHLD", "cat"]);
    let (found, _) = account(vec![server], |servers| servers.iter_mut().for_each(work));
    assert_eq!(found, None, "the system drops the times of its children");
}
