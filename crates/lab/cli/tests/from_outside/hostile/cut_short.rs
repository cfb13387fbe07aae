//! A comparison that a signal ends, or whose output nobody reads: what is kept, and that no process stays.

use std::{
    cell::RefCell,
    io::Write as _,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::ExitStatusExt as _},
    },
    process::{Command, Stdio},
    thread::scope,
};

use lab_system::process::{self, is_alive, pids};

use crate::toy::{
    CALM, PERF, Signal, Toy, ends, fails, interrupt, prints, says, server, short, stderr,
    wait_until, with_itself,
};

/// The signals that end a program, and that `lab` does not handle.
const DEADLY: [Signal; 14] = [
    Signal::SIGKILL,
    Signal::SIGQUIT,
    Signal::SIGABRT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
    Signal::SIGVTALRM,
    Signal::SIGPROF,
    Signal::SIGIO,
    Signal::SIGXCPU,
    Signal::SIGSYS,
    Signal::SIGTRAP,
    Signal::SIGILL,
    Signal::SIGFPE,
];

#[test]
fn servers_and_generator_end_when_lab_is_killed() {
    let toy = Toy::new(&[]);
    // A shell between `lab` and the server, as with `npm start`.
    let command = format!("sh -c '{}; true'", server(&toy, ""));
    let is_generator = |pid| process::command(pid).is_some_and(|it| it.ends_with(" generate"));
    let check = |signal| {
        let all = RefCell::new(Vec::new());
        let is_measured = |lab| {
            all.replace(pids(lab));
            all.borrow().iter().any(|pid| is_generator(*pid))
        };
        let mut lab = with_itself(&toy, &command, &[&CALM[..], &["--measurement=60"]].concat());
        let output = interrupt(&mut lab, signal, is_measured);
        assert_eq!(output.status.signal(), Some(signal as i32), "{}", stderr(&output));
        wait_until("all have ended", || !all.borrow().iter().any(|pid| is_alive(*pid)));
    };
    let deadly = DEADLY.iter().filter(|signal| !is_ignored(**signal));
    scope(|scope| deadly.for_each(|signal| drop(scope.spawn(|| check(*signal)))));
}

/// Whether this process ignores a signal, and so all that it starts do: SIGQUIT, if a script runs the tests with `&`.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() >> (signal as u32 - 1) & 1 == 1
}

#[test]
fn every_server_has_ended_when_lab_says_that_it_was_interrupted() {
    let toy = Toy::new(&[]);
    let server = server(&toy, "");
    for (signal, command) in [
        // A closed terminal, and a server that only ends when it is killed.
        (Signal::SIGHUP, format!("sh -c 'trap \"\" HUP TERM; exec {server}'")),
        // One that leaves the process group, and one that leaves the process tree as well.
        (Signal::SIGINT, format!("sh -c 'setsid {server} & exec sleep 60'")),
        (Signal::SIGTERM, format!("sh -c '(setsid {server} &); exec sleep 60'")),
    ] {
        let started = toy.started().len();
        let begun = |_| toy.started().len() > started;
        let output = interrupt(&mut short(&toy, &command), signal, begun);
        assert!(toy.all_servers_ended(), "{command}: {}", stderr(&output));
        fails(&output, 130, "interrupted: the servers are stopped and nothing was written");
    }
}

#[test]
fn a_comparison_whose_runs_are_done_is_kept() {
    let toy = Toy::new(&[]);
    // Its system calls are counted last.
    toy.program("programs/perf", PERF);
    let mut lab = short(&toy, &server(&toy, ""));
    lab.env("PATH", toy.path_variable());
    let output = interrupt(&mut lab, Signal::SIGINT, |_| toy.path("attached").exists());
    fails(&output, 130, "interrupted: the servers are stopped and the finished comparison is kept");
    prints(&output, "throughput (decides)");
    assert_eq!(toy.results().len(), 1);
}

#[test]
fn a_signal_ends_the_wait_for_a_reader() {
    let toy = Toy::new(&[]);
    // Nobody reads what it prints.
    let (_reader, writer) = UnixStream::pair().unwrap();
    let mut full = writer.try_clone().unwrap();
    full.set_nonblocking(true).unwrap();
    while full.write(&[b' '; 4096]).is_ok() {}
    full.set_nonblocking(false).unwrap();
    let mut lab = short(&toy, &server(&toy, ""));
    lab.stdout(OwnedFd::from(writer));
    let output = interrupt(&mut lab, Signal::SIGTERM, |_| !toy.results().is_empty());
    ends(&output, 130);
}

#[test]
fn nohup_keeps_a_comparison_when_its_terminal_closes() {
    let toy = Toy::new(&[]);
    let lab = short(&toy, &server(&toy, ""));
    let mut nohup = Command::new("nohup");
    nohup.arg(lab.get_program()).args(lab.get_args()).current_dir(toy.path("."));
    nohup.stdout(Stdio::piped()).stderr(Stdio::piped());
    ends(&interrupt(&mut nohup, Signal::SIGHUP, |_| !toy.started().is_empty()), 3);
}

#[test]
fn figures_are_printed_even_if_they_cannot_be_kept() {
    let toy = Toy::new(&[]);
    let lab = short(&toy, &server(&toy, "")).spawn().unwrap();
    wait_until("a server runs", || !toy.started().is_empty());
    std::fs::remove_dir(toy.path("target/lab/runs")).unwrap();
    toy.write("target/lab/runs", "in the way");
    let output = lab.wait_with_output().unwrap();
    fails(&output, 2, "target/lab/runs: ");
    prints(&output, "throughput (decides)");
}

#[test]
fn a_note_that_nobody_can_read_costs_no_measurement() {
    let toy = Toy::new(&[]);
    let mut lab = short(&toy, &server(&toy, ""));
    lab.args(["--compare", "length"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    ends(&lab.stderr(full).output().unwrap(), 3);
    let mut lab = lab.stderr(Stdio::piped()).spawn().unwrap();
    drop(lab.stderr.take());
    ends(&lab.wait_with_output().unwrap(), 3);
    assert_eq!(toy.results().len(), 2);
}

#[test]
fn figures_that_are_not_printed_are_an_error_and_kept() {
    let toy = Toy::new(&[]);
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for json in [&["--json"][..], &[]] {
        let output = short(&toy, &server(&toy, "")).args(json).stdout(full()).output().unwrap();
        fails(&output, 2, "error: standard output is incomplete: No space left on device");
        says(&output, "  Results    ");
    }
    assert_eq!(toy.results().len(), 2);
    // A reader that has gone, as `head` does, has what it wanted.
    let mut lab = short(&toy, &server(&toy, "")).spawn().unwrap();
    drop(lab.stdout.take());
    ends(&lab.wait_with_output().unwrap(), 3);
}
