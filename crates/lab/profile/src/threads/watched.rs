//! One thread, whose files in `/proc` stay open: to open them costs five times as much as to read them.

use std::{fs::File, os::unix::fs::FileExt as _};

use lab_observation::{State, Thread};

use super::calls;

pub(super) struct Watched {
    pub(super) pid: u32,
    pub(super) thread: Thread,
    /// `None` if it has ended.
    syscall: Option<File>,
    schedstat: Option<File>,
    /// Of the main thread of a process. A signal stops all threads.
    stat: Option<File>,
    /// How long it had run and had waited for a core when it was first looked at, and at the last look.
    first: [u64; 2],
    last: [u64; 2],
    /// How many looks found it running or waiting for a core, and how many of them count as running.
    active: u64,
    running: u64,
}

impl Watched {
    /// Opens the files of a thread, which has the name that the system has for it unless it gets another one.
    pub(super) fn open(pid: u32, dir: &str, name: Option<String>, states: Vec<State>) -> Self {
        let open = |file| File::open(format!("{dir}/{file}")).ok();
        let of_system = || {
            let name = open("comm").and_then(|file| line(&file)).unwrap_or_default();
            lab_system::escaped(name.trim_end())
        };
        let schedstat = open("schedstat");
        let times = schedstat.as_ref().map_or([0; 2], times);
        Self {
            pid,
            thread: Thread { name: name.unwrap_or_else(of_system), states },
            syscall: open("syscall"),
            stat: if dir.ends_with(&format!("/{pid}")) { open("stat") } else { None },
            schedstat,
            first: times,
            last: times,
            active: 0,
            running: 0,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.syscall.is_none()
    }

    /// Whether it is the main thread of a process that is stopped.
    pub(super) fn is_stopped(&self) -> bool {
        let stat = self.stat.as_ref().and_then(line);
        // Behind the name, which may have any characters.
        let state = stat.as_ref().and_then(|stat| stat.rsplit_once(") "));
        state.is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
    }

    /// Adds its state. Returns how long it has waited for a core since the look before, in microseconds.
    pub(super) fn look(&mut self, is_stopped: bool) -> u64 {
        let now = self.schedstat.as_ref().map_or([0; 2], times);
        let text = self.syscall.as_ref().and_then(line).unwrap_or_default();
        let state = match text.split_whitespace().collect::<Vec<_>>()[..] {
            [_, ..] if is_stopped => State::Stopped,
            ["running"] => self.active(now),
            // It waits outside of any call, for a page of its memory. Without a stack it is about to end.
            ["-1", stack, ..] if stack != "0x0" => State::Blocked("page fault".into()),
            [number, _, ..] if number != "-1" => {
                number.parse().map_or(State::Absent, |number| State::Blocked(calls::name(number)))
            }
            // It may not be watched.
            [_, ..] => State::Absent,
            [] => {
                self.syscall = None;
                State::Absent
            }
        };
        self.thread.states.push(state);
        let waited = now[1].saturating_sub(self.last[1]);
        self.last = now;
        waited / 1_000
    }

    /// Running, or waiting for a core. One look cannot see which, but the scheduler counts both
    /// times: as many looks count as running as their ratio demands.
    fn active(&mut self, now: [u64; 2]) -> State {
        self.active += 1;
        let [ran, waited] = [0, 1].map(|time| now[time].saturating_sub(self.first[time]) as f64);
        let share = if waited == 0.0 { 1.0 } else { ran / (ran + waited) };
        if self.running as f64 + 0.5 <= self.active as f64 * share {
            self.running += 1;
            return State::Running;
        }
        State::Ready
    }
}

/// How long a thread has run and has waited for a core so far, in nanoseconds; zero if the system
/// does not count that.
pub(super) fn ran_and_waited(dir: &str) -> [u64; 2] {
    File::open(format!("{dir}/schedstat")).map_or([0; 2], |file| times(&file))
}

fn times(schedstat: &File) -> [u64; 2] {
    let text = line(schedstat).unwrap_or_default();
    let mut times = text.split(' ').map_while(|time| time.parse().ok());
    [(); 2].map(|()| times.next().unwrap_or_default())
}

/// The line of a file, as it is now. It fails once the thread has ended.
fn line(file: &File) -> Option<String> {
    let mut line = [0; 256];
    let length = file.read_at(&mut line, 0).ok()?;
    Some(String::from_utf8_lossy(&line[..length]).into_owned())
}
