//! Who runs on which core.
//!
//! Left to itself, the scheduler moves the generator and the server about, and lets them meet on
//! one core while another is idle. Pinned, the generator has the last core to itself and the server
//! all others, so that neither disturbs the other. The price is a core that the server goes without:
//! on two cores, half of the machine.
//!
//! Where the system has no such thing (other than Linux), and on a single core, nothing is pinned.

/// The cores of this process, shared out.
#[derive(Clone, Debug, PartialEq)]
pub struct Cores {
    /// The generator's: the last, as interrupts tend to go to the first.
    pub generator: usize,
    /// The server's: all others.
    pub server: Vec<usize>,
}

impl Cores {
    /// Shares out the cores that the calling thread may use; none if there are fewer than two.
    pub fn shared_out() -> Option<Self> {
        Self::of(system::allowed())
    }

    fn of(mut allowed: Vec<usize>) -> Option<Self> {
        let generator = allowed.pop()?;
        (!allowed.is_empty()).then_some(Self { generator, server: allowed })
    }
}

/// Keeps the calling thread, and the threads and processes that it starts from now on, to the
/// generator's core. Returns whether it did.
///
/// To be called before the process has other threads: those that it already has stay free.
pub fn pin_generator() -> bool {
    Cores::shared_out().is_some_and(|cores| system::allow(&[cores.generator]))
}

/// Does `start`, and keeps the processes that it starts to the server's cores.
///
/// A child inherits the cores of the thread that starts it, and a server asks for its cores when it
/// sets up its threads. So the calling thread is moved before the start and back after it; to move
/// the child would come too late.
pub fn on_server_cores<T>(start: impl FnOnce() -> T) -> T {
    let _back = Cores::shared_out().map(|cores| Confined::to(&cores.server));
    start()
}

/// Does `start`, and keeps the processes that it starts to the generator's core.
pub fn on_generator_core<T>(start: impl FnOnce() -> T) -> T {
    let _back = Cores::shared_out().map(|cores| Confined::to(&[cores.generator]));
    start()
}

/// The calling thread on some of its cores, until this is dropped.
struct Confined {
    before: Vec<usize>,
}

impl Confined {
    fn to(cores: &[usize]) -> Self {
        let before = system::allowed();
        system::allow(cores);
        Self { before }
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        system::allow(&self.before);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use nix::{
        sched::{CpuSet, sched_getaffinity, sched_setaffinity},
        unistd::Pid,
    };

    /// The calling thread, to these calls.
    const SELF: Pid = Pid::from_raw(0);

    /// The cores that the calling thread may use, in their order.
    pub fn allowed() -> Vec<usize> {
        let Ok(set) = sched_getaffinity(SELF) else { return Vec::new() };
        (0..CpuSet::count()).filter(|core| set.is_set(*core) == Ok(true)).collect()
    }

    /// Keeps the calling thread to these cores; says whether it did.
    pub fn allow(cores: &[usize]) -> bool {
        let mut set = CpuSet::new();
        cores.iter().all(|core| set.set(*core).is_ok()) && sched_setaffinity(SELF, &set).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn allowed() -> Vec<usize> {
        Vec::new()
    }

    pub fn allow(_cores: &[usize]) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gets_the_last_core_and_the_server_all_others() {
        let cores = Cores { generator: 7, server: vec![0, 2, 3] };
        assert_eq!(Cores::of(vec![0, 2, 3, 7]), Some(cores));
        assert_eq!(Cores::of(vec![0]), None, "one core is not shared out");
        assert_eq!(Cores::of(Vec::new()), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_inherits_its_cores_and_the_parent_gets_its_own_back() {
        let before = system::allowed();
        let Some(cores) = Cores::of(before.clone()) else { return };
        let child = || {
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            list.unwrap().trim().to_owned()
        };
        let in_child = on_generator_core(|| std::thread::spawn(child).join().unwrap());
        assert_eq!(in_child, cores.generator.to_string());
        let server_cores = on_server_cores(system::allowed);
        assert_eq!(server_cores, cores.server);
        assert_eq!(system::allowed(), before);
    }
}
