//! The CPU time of a server whose threads and processes come and go, against its own account.
//!
//! The server is this process, so there may be only one test here.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use lab_load::process::{CpuTime, children_cpu_time, own_cpu_time};
use nix::sys::resource::{UsageWho, getrusage};

/// By the process's own account: its threads, and the children that it waited for.
fn own_account() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let micros = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
    let own = micros(usage.user_time()) + micros(usage.system_time());
    Duration::from_micros(own as u64) + children_cpu_time().unwrap()
}

fn burn() {
    let end = own_cpu_time().unwrap() + Duration::from_millis(30);
    while own_cpu_time().unwrap() < end {}
}

/// A child that works when it gets a line, and ends when its input does.
fn worker() -> Child {
    let work = "while read line; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo; done";
    let mut command = Command::new("sh");
    command.args(["-c", work]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn work(worker: &mut Child) {
    worker.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    worker.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
}

fn compare(found: &CpuTime, before: &CpuTime, own: Duration) {
    let found = found.since(before).unwrap();
    assert!(found.abs_diff(own) < own / 10, "{found:?} instead of {own:?}");
}

#[test]
fn cpu_time_includes_threads_and_children_that_have_ended() {
    let reading = || CpuTime::of(std::process::id()).unwrap();

    let (before, own) = (reading(), own_account());
    (0..10).for_each(|_| thread::spawn(burn).join().unwrap());
    compare(&reading(), &before, own_account() - own);

    let (before, own) = (reading(), own_account());
    for _ in 0..10 {
        let mut worker = worker();
        work(&mut worker);
        worker.wait().unwrap();
    }
    compare(&reading(), &before, own_account() - own);

    let mut workers = [worker(), worker()];
    let (before, own) = (reading(), own_account());
    (0..4).for_each(|_| workers.iter_mut().for_each(work));
    let living = reading();
    // Only then does the system add their time to ours.
    for worker in &mut workers {
        worker.wait().unwrap();
    }
    let own = own_account() - own;
    compare(&living, &before, own);
    compare(&reading(), &before, own);
}
