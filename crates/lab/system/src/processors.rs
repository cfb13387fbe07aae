//! The time of all processors of this machine, and who got it.

use super::System;

/// Seconds since boot, the sum of all processors. Only differences have a meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Processors {
    /// All time, idle time included.
    pub all: f64,
    /// The seconds that all programs used, in steps of 10 ms: `user`, `nice` and `system` of `/proc/stat`. Interrupts
    /// are left out, because some systems also count them as time of the program that they interrupt.
    pub programs: f64,
    /// The seconds that the host gave to other virtual machines while this one had work.
    pub stolen: f64,
}

/// The units of `/proc/stat` in a second: USER_HZ is 100 on every architecture that Rust supports.
const TICKS_PER_S: f64 = 100.0;

impl Processors {
    /// `None` if the system does not report it.
    pub fn read(system: &System) -> Option<Self> {
        let stat = system.read("proc/stat")?;
        let times = stat.lines().next()?.split_whitespace().skip(1);
        let times: Vec<_> =
            times.flat_map(str::parse::<f64>).map(|ticks| ticks / TICKS_PER_S).collect();
        // What follows, `guest`, is part of `user`.
        let all @ [user, nice, kernel, .., stolen] = *times.first_chunk::<8>()?;
        Some(Self { all: all.iter().sum(), programs: user + nice + kernel, stolen })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use fake_machine::FakeMachine;

    use super::*;

    #[test]
    fn times_are_read_from_the_system() {
        let fake = FakeMachine::healthy();
        let stat = "cpu  900 50 50 9000 10 20 30 40 700 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        fake.write("proc/stat", stat);
        let times = Processors { all: 101.0, programs: 10.0, stolen: 0.4 };
        assert_eq!(Processors::read(&System::of_test(&fake)), Some(times));
        fake.remove("proc/stat");
        assert_eq!(Processors::read(&System::of_test(&fake)), None);
    }
}
