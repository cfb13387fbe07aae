//! What a profiler recorded of one server, and what a reader has to know about it.

use std::{path::PathBuf, time::Duration};

use super::{Profiler, roots::is_rooted, window::Window};
use crate::stacks::Folded;
use lab_display::thousands;

/// Shares of fewer samples than this are too rough.
const FEW: u64 = 200;
/// A server that uses less than this share of one core counts as almost idle.
const IDLE: f64 = 0.1;

/// The stacks of one server, in samples, and how far to trust them.
#[derive(Clone, Debug)]
pub struct Recording {
    pub profiler: Profiler,
    /// Stacks with the symbols as the profiler prints them (mangled or not), without the thread's
    /// name; weights in samples.
    pub stacks: Folded,
    pub samples: u64,
    /// The share of samples whose stack reaches the start of its thread, from 0 to 1. The others
    /// were cut and sit at the wrong place. Absent without samples.
    pub rooted_share: Option<f64>,
    /// The share of samples that the profiler dropped, from 0 to 1.
    pub lost_share: f64,
    /// The CPU time that the samples account for.
    pub sampled_cpu: Duration,
    /// The server's CPU time over the same window as the system counts it, if it does.
    pub system_cpu: Option<Duration>,
    pub window: Duration,
    /// What `perf record` wrote, for other tools.
    pub perf_data: Option<PathBuf>,
    /// Whether a timer took the samples instead of a hardware counter: just as good for shares.
    pub by_timer: bool,
    /// What a reader has to know, one sentence each.
    pub notices: Vec<String>,
}

impl Recording {
    /// A recording of these stacks that lost nothing, by a profiler with a timer.
    pub(crate) fn new(profiler: Profiler, stacks: Folded, window: Window) -> Self {
        let samples = stacks.total();
        let rooted = stacks.iter().filter(|(stack, _)| is_rooted(stack));
        let rooted: u64 = rooted.map(|(_, weight)| weight).sum();
        Self {
            profiler,
            samples,
            rooted_share: (samples > 0).then(|| rooted as f64 / samples as f64),
            lost_share: 0.0,
            sampled_cpu: Duration::ZERO,
            system_cpu: window.system_cpu,
            window: window.length,
            perf_data: None,
            by_timer: true,
            notices: Vec::new(),
            stacks,
        }
    }

    /// Sampled CPU time over the system's count: close to 1 if nothing is missing.
    pub fn cpu_agreement(&self) -> Option<f64> {
        let system = self.system_cpu?.as_secs_f64();
        (system > 0.0).then(|| self.sampled_cpu.as_secs_f64() / system)
    }

    /// Adds what the numbers give reason to say.
    pub(super) fn with_notices(mut self) -> Self {
        let checks = [few, cut, lost, user_only, disagreement];
        self.notices = checks.iter().filter_map(|check| check(&self)).collect();
        self
    }
}

fn few(recording: &Recording) -> Option<String> {
    let samples = recording.samples;
    if samples >= FEW {
        return None;
    }
    let used = recording.system_cpu.unwrap_or(recording.sampled_cpu);
    Some(match used.as_secs_f64() < IDLE * recording.window.as_secs_f64() {
        true => format!(
            "the server was almost idle: it used {} of CPU in {} ({samples} samples). That is the \
             finding: the time goes to waiting",
            ms(used),
            ms(recording.window)
        ),
        false => format!("only {samples} samples: shares are rough; fix: record for longer"),
    })
}

fn cut(recording: &Recording) -> Option<String> {
    let rooted = recording.rooted_share.filter(|rooted| *rooted < 0.9)?;
    let fix = match recording.profiler {
        Profiler::PerfWithKernel | Profiler::PerfUserOnly => {
            "keep unwind tables and line tables in the build (`--profile profiling`), and use a \
             perf for which `perf version --build-options` shows libdw or libunwind as on"
        }
        _ => "keep unwind tables in the build, or record with perf",
    };
    let cut = 100.0 * (1.0 - rooted);
    Some(format!("{cut:.0} % of the stacks were cut and sit at the wrong place; fix: {fix}"))
}

fn lost(recording: &Recording) -> Option<String> {
    (recording.lost_share > 0.01).then(|| {
        format!(
            "{:.0} % of the samples were lost because the profiler could not keep up; fix: stop \
             other work on this machine, or record fewer requests at a time",
            100.0 * recording.lost_share
        )
    })
}

fn user_only(recording: &Recording) -> Option<String> {
    match recording.profiler {
        Profiler::PerfUserOnly => {
            let system = recording.system_cpu.map(|all| all.saturating_sub(recording.sampled_cpu));
            let about = system.map_or(String::new(), |kernel| format!(" ({})", ms(kernel)));
            Some(format!("user frames only: the kernel's work{about} is not in the picture"))
        }
        Profiler::InProcess => Some(
            "user frames only: the kernel's work appears as the function that asked for it"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Samples far from the system's count measure something else than the server's CPU time.
fn disagreement(recording: &Recording) -> Option<String> {
    let agreement = recording.cpu_agreement()?;
    // `user_only` reports the kernel's time already.
    let sees_all = recording.profiler != Profiler::PerfUserOnly;
    let too_low = sees_all && agreement < 0.8;
    (recording.samples >= FEW && (too_low || agreement > 1.25)).then(|| {
        format!(
            "the samples add up to {} of CPU time, but the system counted {}: trust the picture's \
             shares, not its times",
            ms(recording.sampled_cpu),
            ms(recording.system_cpu.unwrap_or_default())
        )
    })
}

fn ms(time: Duration) -> String {
    format!("{} ms", thousands(1e3 * time.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_its_notice() {
        type Spoil = fn(&mut Recording);
        let faults: [(Spoil, &[&str]); 6] = [
            (
                |it| {
                    it.samples = 46;
                    it.sampled_cpu = Duration::from_millis(92);
                    it.system_cpu = Some(Duration::from_millis(93));
                },
                &["it used 93 ms of CPU in 10,000 ms", "That is the finding"],
            ),
            (|it| it.samples = 150, &["only 150 samples"]),
            (
                |it| it.rooted_share = Some(0.004),
                &["100 % of the stacks were cut", "fix: keep unwind tables"],
            ),
            (|it| it.lost_share = 0.12, &["12 % of the samples were lost"]),
            (|it| it.sampled_cpu /= 2, &["add up to 5,000 ms of CPU time"]),
            (
                |it| {
                    it.profiler = Profiler::PerfUserOnly;
                    it.sampled_cpu /= 2;
                },
                &["user frames only", "(5,000 ms)"],
            ),
        ];
        let length = Duration::from_secs(10);
        let window = Window { length, system_cpu: Some(length) };
        let stacks = "main;work 5000\n".parse().unwrap();
        let healthy = Recording {
            sampled_cpu: length,
            ..Recording::new(Profiler::PerfWithKernel, stacks, window)
        };
        assert!(healthy.clone().with_notices().notices.is_empty());
        for (spoil, words) in faults {
            let mut recording = healthy.clone();
            spoil(&mut recording);
            let notices = recording.with_notices().notices;
            assert_eq!(notices.len(), 1, "{notices:?}");
            assert!(words.iter().all(|word| notices[0].contains(word)), "{notices:?}");
        }
    }
}
