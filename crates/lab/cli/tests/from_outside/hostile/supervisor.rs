//! What happens when a supervisor is killed, or kept from its work: no server outlives it.

use lab_system::process;
use nix::{sys::signal::kill, unistd::Pid};

use crate::toy::{Signal, Toy, fails, server, short, wait_until};

const KILLED: &str =
    "was killed by signal 9, so the server ended too\n  does the server kill its parent";

fn send(signal: Signal, pid: u32) {
    kill(Pid::from_raw(pid as i32), signal).unwrap();
}

/// The supervisor of the server that runs below `lab`, once there is one.
fn supervisor(toy: &Toy, lab: u32) -> u32 {
    wait_until("a server runs", || !toy.started().is_empty());
    let is_supervisor =
        |pid: &u32| process::command(*pid).is_some_and(|it| it.contains(" supervise -- "));
    process::pids(lab).into_iter().find(is_supervisor).unwrap()
}

#[test]
fn a_killed_supervisor_is_an_error_and_no_server_stays() {
    let toy = Toy::new(&[]);
    let server = server(&toy, "");
    let killed = |command: &str| {
        let lab = short(&toy, command).spawn().unwrap();
        send(Signal::SIGKILL, supervisor(&toy, lab.id()));
        lab.wait_with_output().unwrap()
    };
    // The second server is a child of what the supervisor started.
    for command in [&server, &format!("sh -c '{server}; true'")] {
        fails(&killed(command), 2, KILLED);
        assert!(toy.all_servers_ended());
        std::fs::remove_dir_all(toy.path("pids")).unwrap();
        std::fs::create_dir(toy.path("pids")).unwrap();
    }
    // One that kills its parent itself, while `lab` asks for its answers.
    let suicidal = format!("sh -c '{server} & sleep 0.7; kill -9 $PPID; wait'");
    fails(&short(&toy, &suicidal).output().unwrap(), 2, KILLED);
    assert!(toy.all_servers_ended());
}

#[test]
fn the_system_ends_a_server_whose_supervisor_is_killed_while_lab_cannot_help() {
    let toy = Toy::new(&[]);
    let mut lab = short(&toy, &server(&toy, "")).spawn().unwrap();
    let supervisor = supervisor(&toy, lab.id());
    send(Signal::SIGSTOP, lab.id());
    send(Signal::SIGKILL, supervisor);
    toy.wait_until_all_servers_ended();
    send(Signal::SIGKILL, lab.id());
    lab.wait().unwrap();
}
