//! Assigns cores to generator and server, for `lab bench-generator`.
//!
//! Otherwise the scheduler moves both around, and sometimes puts them on one core while another is
//! idle. Pinned, the generator has the last core and the server all others. The price is a core that
//! the server cannot use. On systems other than Linux, and on a single core, nothing is pinned.

#[derive(Clone, Debug, PartialEq)]
pub struct Cores {
    /// The last core: interrupts tend to go to the first.
    pub generator: usize,
    /// All other cores.
    pub server: Vec<usize>,
}

impl Cores {
    /// Divides the cores that the calling thread may use; `None` if there are fewer than two.
    pub fn divided() -> Option<Self> {
        Self::of(system::allowed())
    }

    fn of(mut allowed: Vec<usize>) -> Option<Self> {
        let generator = allowed.pop()?;
        (!allowed.is_empty()).then_some(Self { generator, server: allowed })
    }
}

/// Pins the calling thread to the generator's core, with the threads and processes that it starts
/// from now on. Existing threads are not pinned.
pub fn pin_generator() {
    if let Some(cores) = Cores::divided() {
        system::allow(&[cores.generator]);
    }
}

/// Does `start`, and pins the processes that it starts to the server's cores.
///
/// A server counts its cores when it sets up its threads, so pinning the child afterwards is too
/// late. A child inherits the cores of the thread that starts it: that one is pinned for a moment.
pub fn on_server_cores<T>(start: impl FnOnce() -> T) -> T {
    let _back = Cores::divided().map(|cores| Confined::to(&cores.server));
    start()
}

/// Does `start`, and pins the processes that it starts to the generator's core.
pub fn on_generator_core<T>(start: impl FnOnce() -> T) -> T {
    let _back = Cores::divided().map(|cores| Confined::to(&[cores.generator]));
    start()
}

/// Pins the calling thread until this is dropped.
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

    /// The cores that the calling thread may use, in ascending order.
    pub fn allowed() -> Vec<usize> {
        let Ok(set) = sched_getaffinity(SELF) else { return Vec::new() };
        (0..CpuSet::count()).filter(|core| set.is_set(*core) == Ok(true)).collect()
    }

    /// Pins the calling thread to these cores; returns whether that worked.
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
        assert_eq!(Cores::of(vec![0]), None, "one core is not divided");
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
