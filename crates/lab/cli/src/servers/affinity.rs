//! Separate cores for the generator and the server.
//!
//! The scheduler may put the generator and the server on one core while another is idle. With pinning,
//! the generator has the last core and the server has all others. The server loses a core, which on
//! two cores is half of the machine.
//!
//! Nothing is pinned on a single core, or on other systems than Linux.

/// The cores of this process, divided.
#[derive(Clone, Debug, PartialEq)]
pub struct Cores {
    /// The last core, because interrupts tend to go to the first.
    pub generator: usize,
    /// All other cores.
    pub server: Vec<usize>,
}

impl Cores {
    /// Divides the cores that the calling thread may use; `None` if there are fewer than two.
    pub fn shared_out() -> Option<Self> {
        Self::of(system::allowed())
    }

    fn of(mut allowed: Vec<usize>) -> Option<Self> {
        let generator = allowed.pop()?;
        (!allowed.is_empty()).then_some(Self { generator, server: allowed })
    }
}

/// Pins the calling thread, and the threads and processes that it starts later, to the generator's
/// core. Call it before the process has other threads; it does not pin those.
pub fn pin_generator() {
    if let Some(cores) = Cores::shared_out() {
        system::allow(&[cores.generator]);
    }
}

/// Moves the calling thread to the server's cores, until the result is dropped.
///
/// A child inherits the cores of the thread that starts it. Moving the child would be too late: a
/// server reads the number of its cores when it starts its threads.
pub fn to_server_cores() -> Option<Confined> {
    Cores::shared_out().map(|cores| Confined::to(&cores.server))
}

/// Moves the calling thread to the generator's core, until the result is dropped.
pub fn to_generator_core() -> Option<Confined> {
    Cores::shared_out().map(|cores| Confined::to(&[cores.generator]))
}

/// The calling thread on some of its cores, until this is dropped.
pub struct Confined {
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

    const SELF: Pid = Pid::from_raw(0);

    /// The cores that the calling thread may use, in ascending order.
    pub fn allowed() -> Vec<usize> {
        let Ok(set) = sched_getaffinity(SELF) else { return Vec::new() };
        (0..CpuSet::count()).filter(|core| set.is_set(*core) == Ok(true)).collect()
    }

    /// Pins the calling thread to these cores, if the system permits it.
    pub fn allow(cores: &[usize]) {
        let mut set = CpuSet::new();
        if cores.iter().all(|core| set.set(*core).is_ok()) {
            let _ = sched_setaffinity(SELF, &set);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn allowed() -> Vec<usize> {
        Vec::new()
    }

    pub fn allow(_cores: &[usize]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gets_the_last_core_and_the_server_the_others() {
        let cores = Cores { generator: 7, server: vec![0, 2, 3] };
        assert_eq!(Cores::of(vec![0, 2, 3, 7]), Some(cores));
        assert_eq!(Cores::of(vec![0]), None, "one core cannot be divided");
        assert_eq!(Cores::of(Vec::new()), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_inherits_its_cores_and_the_parent_keeps_its_own() {
        let before = system::allowed();
        let Some(cores) = Cores::of(before.clone()) else { return };
        let child = || {
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            list.unwrap().trim().to_owned()
        };
        let confined = to_generator_core();
        assert_eq!(std::thread::spawn(child).join().unwrap(), cores.generator.to_string());
        drop(confined);
        let confined = to_server_cores();
        assert_eq!(system::allowed(), cores.server);
        drop(confined);
        assert_eq!(system::allowed(), before);
    }
}
