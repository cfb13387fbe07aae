//! Looks at every thread, again and again, through `/proc`.
//!
//! `/proc/PID/task/TID/syscall` has the number of the system call in which a thread is blocked, and
//! `running` for a thread that runs or waits for a core. A parent may read it.

mod calls;
mod watched;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::{Duration, Instant, SystemTime},
};

use lab_observation::{State, Thread, ThreadStates};
use lab_system::{Processors, System, process};
use tokio::time::{MissedTickBehavior, interval};

use watched::{Watched, ran_and_waited};

/// How long from one look to the next.
const LOOK: Duration = Duration::from_millis(5);
/// How many looks until new processes and threads are looked for: that costs more than a look.
const LOOKS_PER_LIST: usize = 20;
/// How many threads are watched: a look costs up to 10 µs a thread, and needs two open files for each.
const MOST: usize = 128;

/// Watches a process and its descendants; `None` where the system does not show their threads.
pub async fn watch_threads(pid: u32, window: Duration) -> Option<ThreadStates> {
    let mut threads = Threads { pid, watched: BTreeMap::new(), left_out: 0 };
    let mut seen = ThreadStates::default();
    let stolen_s = || Some(Processors::read(&System::this())?.stolen);
    let is_stolen_from = stolen_s().is_some_and(|stolen| stolen > 0.0);
    let start = Instant::now();
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while start.elapsed() < window {
        ticks.tick().await;
        if seen.unix_us.len().is_multiple_of(LOOKS_PER_LIST) {
            threads.list(seen.unix_us.len());
        }
        seen.unix_us.push(SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_micros() as u64);
        seen.waits_us.push(threads.look());
        seen.stolen_s.extend(is_stolen_from.then(stolen_s).flatten());
    }
    let left_out = threads.left_out;
    let mut threads: Vec<_> = threads.watched.into_values().map(|thread| thread.thread).collect();
    threads.retain(|thread| thread.states.iter().any(|state| *state != State::Absent));
    let works = |state: &&State| **state != State::Absent && !state.waits_for_work();
    let worked = |thread: &Thread| thread.states.iter().filter(works).count();
    threads.sort_by_key(|thread| std::cmp::Reverse(worked(thread)));
    let (window, looks) = (start.elapsed(), seen.unix_us.len());
    (!threads.is_empty()).then_some(ThreadStates { window, looks, threads, left_out, ..seen })
}

/// The watched threads of a process and its descendants, by their directories `/proc/PID/task/TID`.
struct Threads {
    pid: u32,
    watched: BTreeMap<String, Watched>,
    /// How many found no room.
    left_out: usize,
}

impl Threads {
    /// Adds new threads, those first that have used the most CPU time. They are absent from the earlier `looks`.
    ///
    /// The server's main thread is called that: the system calls it by the program, and the program of a case
    /// is called by its fault.
    fn list(&mut self, looks: usize) {
        let (mut found, main) = (Vec::new(), format!("/proc/{0}/task/{0}", self.pid));
        for pid in process::pids(self.pid) {
            let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            let dirs = tasks.map(|task| task.path().display().to_string());
            let new = dirs.filter(|dir| self.watched.get(dir).is_none_or(Watched::has_ended));
            found.extend(new.map(|dir| (ran_and_waited(&dir), pid, dir)));
        }
        found.sort_by_key(|(times, ..)| std::cmp::Reverse(*times));
        let room = found.len().min(MOST - self.watched.len());
        self.left_out = self.left_out.max(found.len() - room);
        for (_, pid, dir) in found.into_iter().take(room) {
            let name = (dir == main).then(|| "main thread".to_owned());
            // The number of one that has ended is used again.
            let states = self.watched.remove(&dir).map(|ended| ended.thread.states);
            let states = states.unwrap_or_else(|| vec![State::Absent; looks]);
            self.watched.insert(dir.clone(), Watched::open(pid, &dir, name, states));
        }
    }

    /// Looks at each. Returns how long one of them has waited for a core since the look before, in microseconds.
    fn look(&mut self) -> u64 {
        let mains = self.watched.values().filter(|thread| thread.is_stopped());
        let stopped: BTreeSet<_> = mains.map(|main| main.pid).collect();
        let threads = self.watched.values_mut();
        threads.map(|thread| thread.look(stopped.contains(&thread.pid))).max().unwrap_or_default()
    }
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
    async fn a_stopped_process_has_stopped_threads() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
        // The signal takes effect a moment later.
        let states = loop {
            let Some(seen) = watch_threads(child.id(), LOOK).await else { continue };
            assert_eq!((seen.waits_us.len(), seen.threads.len()), (seen.looks, 1));
            if seen.threads[0].states.contains(&State::Stopped) {
                break watch_threads(child.id(), 4 * LOOK).await.unwrap().threads.remove(0).states;
            }
        };
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(states.iter().all(|state| *state == State::Stopped), "{states:?}");
    }

    #[tokio::test]
    async fn a_process_that_does_not_exist_shows_nothing() {
        assert!(watch_threads(u32::MAX, Duration::from_millis(20)).await.is_none());
    }
}
