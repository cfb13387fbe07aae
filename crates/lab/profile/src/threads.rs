//! Looks at every thread, again and again, through `/proc`.
//!
//! `/proc/PID/task/TID/syscall` has the number of the system call in which a thread is blocked, and
//! `running` for a thread that runs or waits for a core. A parent may read it.

mod calls;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read as _,
    time::{Duration, Instant, SystemTime},
};

use lab_observation::{State, Thread, ThreadStates};
use lab_system::process;
use tokio::time::{MissedTickBehavior, interval};

/// How long from one look to the next.
const LOOK: Duration = Duration::from_millis(10);
/// How many looks until new processes and threads are looked for: that costs more than a look.
const LOOKS_PER_LIST: usize = 10;
/// How many threads are watched: a look costs up to 10 µs a thread.
const MOST: usize = 128;

/// Watches a process and its descendants; `None` where the system does not show their threads.
pub async fn watch_threads(pid: u32, window: Duration) -> Option<ThreadStates> {
    let (mut watched, mut unix_us, mut left_out) = (BTreeMap::new(), Vec::new(), 0);
    let start = Instant::now();
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while start.elapsed() < window {
        ticks.tick().await;
        let looks = unix_us.len();
        if looks % LOOKS_PER_LIST == 0 {
            left_out = left_out.max(list(pid, looks, &mut watched));
        }
        unix_us.push(SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_micros() as u64);
        watched.iter_mut().for_each(|(dir, thread)| thread.look(dir));
    }
    let looks = unix_us.len();
    let mut threads: Vec<_> = watched.into_values().map(|thread| thread.thread).collect();
    threads.retain(|thread| thread.states.iter().any(|state| *state != State::Absent));
    let works = |state: &&State| **state != State::Absent && !state.waits_for_work();
    let worked = |thread: &Thread| thread.states.iter().filter(works).count();
    threads.sort_by_key(|thread| std::cmp::Reverse(worked(thread)));
    let window = start.elapsed();
    (!threads.is_empty()).then_some(ThreadStates { window, looks, unix_us, threads, left_out })
}

/// Adds new threads by their directories `/proc/PID/task/TID`, those first that have used the most CPU
/// time. Returns how many found no room.
///
/// The server's main thread is called that: the system calls it by the program, and the program of a case
/// is called by its fault.
fn list(pid: u32, looks: usize, watched: &mut BTreeMap<String, Watched>) -> usize {
    let (mut found, main) = (Vec::new(), format!("/proc/{pid}/task/{pid}"));
    for pid in process::pids(pid) {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let dirs = tasks.map(|task| task.path().display().to_string());
        found.extend(dirs.filter(|dir| !watched.contains_key(dir)).map(|dir| (times(&dir), dir)));
    }
    found.sort_by_key(|(before, _)| std::cmp::Reverse(*before));
    let room = found.len().min(MOST - watched.len());
    let left_out = found.len() - room;
    for (before, dir) in found.into_iter().take(room) {
        let name = if dir == main {
            "main thread".to_owned()
        } else {
            lab_system::escaped(read(&dir, "comm").unwrap_or_default().trim_end())
        };
        let thread = Thread { name, states: vec![State::Absent; looks] };
        watched.insert(dir, Watched { thread, before, active: 0, running: 0 });
    }
    left_out
}

struct Watched {
    thread: Thread,
    /// Its [`times`] when it was first looked at.
    before: [u64; 2],
    /// How many looks found it running or waiting for a core, and how many of them count as running.
    active: u64,
    running: u64,
}

impl Watched {
    fn look(&mut self, dir: &str) {
        let text = read(dir, "syscall").unwrap_or_default();
        let state = match text.split_whitespace().collect::<Vec<_>>()[..] {
            ["running"] => self.active(dir),
            // It waits outside of any call, for a page of its memory. Without a stack it is about to end.
            ["-1", stack, ..] if stack != "0x0" => State::Blocked("page fault".into()),
            [number, _, ..] if number != "-1" => {
                number.parse().map_or(State::Absent, |number| State::Blocked(calls::name(number)))
            }
            // It has ended, or it may not be watched.
            _ => State::Absent,
        };
        self.thread.states.push(state);
    }

    /// Running, or waiting for a core. One look cannot see which, but the scheduler counts both
    /// times: as many looks count as running as their ratio demands.
    fn active(&mut self, dir: &str) -> State {
        self.active += 1;
        let now = times(dir);
        let [ran, waited] = [0, 1].map(|time| now[time].saturating_sub(self.before[time]) as f64);
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
fn times(thread: &str) -> [u64; 2] {
    let text = read(thread, "schedstat").unwrap_or_default();
    let mut times = text.split(' ').map_while(|time| time.parse().ok());
    [(); 2].map(|()| times.next().unwrap_or_default())
}

/// Reads a file of one line, with half of the system calls that `fs::read_to_string` needs.
fn read(thread: &str, file: &str) -> Option<String> {
    let mut line = [0; 256];
    let length = File::open(format!("{thread}/{file}")).ok()?.read(&mut line).ok()?;
    Some(String::from_utf8_lossy(&line[..length]).into_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    };

    use lab_observation::shares;

    use super::*;

    #[tokio::test]
    async fn a_thread_that_sleeps_is_blocked_and_one_that_computes_is_not() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let (sender, started) = mpsc::channel();
        let spawn = |name: &str, work: fn()| {
            let sender = sender.clone();
            let repeat = move || {
                // It has its name by now.
                sender.send(()).unwrap();
                while !STOP.load(Ordering::Relaxed) {
                    work();
                }
            };
            std::thread::Builder::new().name(name.to_owned()).spawn(repeat).unwrap();
        };
        spawn("sleeper", || std::thread::sleep(Duration::from_millis(20)));
        spawn("busy", || drop(std::hint::black_box(vec![0_u8; 64])));
        assert_eq!(started.iter().take(2).count(), 2);
        let seen = watch_threads(std::process::id(), Duration::from_millis(300)).await;
        STOP.store(true, Ordering::Relaxed);
        let seen = seen.unwrap();
        // A test has a main thread, too.
        assert_eq!(seen.threads.iter().filter(|thread| thread.name == "main thread").count(), 1);
        let most = |name| {
            let thread = seen.threads.iter().find(|thread| thread.name == name).unwrap();
            assert_eq!(thread.states.len(), seen.looks);
            shares(&[thread]).remove(0).0
        };
        assert!(matches!(most("busy"), State::Running | State::Ready), "{seen:?}");
        assert_eq!(most("sleeper"), State::Blocked("clock_nanosleep".into()));
    }

    #[tokio::test]
    async fn a_process_that_does_not_exist_shows_nothing() {
        assert!(watch_threads(u32::MAX, Duration::from_millis(20)).await.is_none());
    }
}
