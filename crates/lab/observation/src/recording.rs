//! A profiler's recording of one server, and the notes on how far to trust it.

use std::{fmt, time::Duration};

use lab_protocol::NoteKind;
use serde::Serialize;

use super::{
    Folded, Function,
    languages::LANGUAGES,
    stacks::{JIT, Name, hottest},
};

/// Shares of fewer samples than this are too rough: the standard error of a share of 15 % is 2.5 percentage points.
pub const ENOUGH_SAMPLES: u64 = 200;
/// A server that uses less than this share of one core counts as almost idle.
const IDLE: f64 = 0.1;

/// A way to see where CPU time goes. Compare two pictures only if the same profiler made both: each
/// sees something that another one misses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Profiler {
    /// The profiler's name for `--profiler` and in `meta.json`.
    pub name: &'static str,
    pub label: &'static str,
    pub kernel: Kernel,
}

/// How the kernel's work for the server is recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kernel {
    /// The stacks have the kernel's own frames.
    Frames,
    /// The time counts as work of the function that called the allocator, runtime or kernel.
    Callers,
    Missing,
}

impl fmt::Display for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label)
    }
}

/// How `perf` finds the callers of a function.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Unwinder {
    /// Follow the pointers from frame to frame, which all code of the process has to maintain
    #[value(name = "fp")]
    FramePointers,
    /// Copy each stack, and unwind the copies later by the unwind tables of the binaries
    Dwarf,
}

impl fmt::Display for Unwinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FramePointers => "frame pointers",
            Self::Dwarf => "DWARF",
        })
    }
}

/// Figures that the system measured while the profiler sampled.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub length: Duration,
    /// The server's CPU time, if it is known exactly.
    pub system_cpu: Option<Duration>,
}

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
    /// How the callers were found, if the profiler has a choice.
    pub unwinder: Option<Unwinder>,
    /// The share of samples that the profiler dropped, from 0 to 1.
    pub lost_share: f64,
    /// The CPU time that the samples account for.
    pub sampled_cpu: Duration,
    /// The server's CPU time over the same window as the system counts it, if it does.
    pub system_cpu: Option<Duration>,
    pub window: Duration,
    /// The busiest line of a handler that the compiler inlined into a function of the runtime.
    pub inlined: Option<Inlined>,
    pub notes: Vec<NoteKind>,
}

/// A position in the source, and the symbol of the function that has its code.
#[derive(Clone, Debug)]
pub struct Inlined {
    pub symbol: String,
    /// `src/main.rs:64`.
    pub line: String,
}

impl Window {
    /// How many cores the server used on average.
    pub fn cores(&self) -> Option<f64> {
        Some(self.system_cpu?.as_secs_f64() / self.length.as_secs_f64())
    }
}

impl Recording {
    /// A recording of these stacks that lost nothing.
    pub fn new(profiler: Profiler, stacks: Folded, window: Window) -> Self {
        let samples = stacks.total();
        let rooted = stacks.iter().filter(|(stack, _)| LANGUAGES.is_rooted(stack));
        let rooted: u64 = rooted.map(|(_, weight)| weight).sum();
        Self {
            profiler,
            samples,
            rooted_share: (samples > 0).then(|| rooted as f64 / samples as f64),
            unwinder: None,
            lost_share: 0.0,
            sampled_cpu: Duration::ZERO,
            system_cpu: window.system_cpu,
            window: window.length,
            inlined: None,
            notes: Vec::new(),
            stacks,
        }
    }

    /// Sampled CPU time over the system's count: close to 1 if nothing is missing.
    pub fn cpu_agreement(&self) -> Option<f64> {
        let system = self.system_cpu?.as_secs_f64();
        (system > 0.0).then(|| self.sampled_cpu.as_secs_f64() / system)
    }

    /// The `n` functions that cost most, with the line of a handler that has no function of its own.
    pub fn hottest(&self, n: usize) -> Vec<Function> {
        let mut functions = hottest(&self.stacks, n);
        if let Some(Inlined { symbol, line }) = &self.inlined {
            let name = Name::of(symbol).to_string();
            let its = functions
                .iter_mut()
                .filter(|function| function.in_handler && function.name == name);
            its.for_each(|function| function.name += &format!(" ({line})"));
        }
        functions
    }

    /// Adds what the numbers give reason to say.
    pub fn with_notes(mut self) -> Self {
        let used = self.system_cpu.unwrap_or(self.sampled_cpu);
        let is_idle = used.as_secs_f64() < IDLE * self.window.as_secs_f64();
        // A profiler that recorded nothing can't say that there was nothing.
        let is_blank = self.samples == 0 && !(is_idle && self.system_cpu.is_some());
        let is_enough = self.samples >= ENOUGH_SAMPLES;
        let cut = self.rooted_share.map(|rooted| 1.0 - rooted).filter(|cut| *cut > 0.1);
        let nameless = self.stacks.share(|frame| frame == JIT);
        // Samples far from the system's count measure something else than the server's CPU time.
        let is_far = |agreement| {
            self.profiler.kernel != Kernel::Missing && agreement < 0.8 || agreement > 1.25
        };
        let notes = [
            (!is_enough).then(|| {
                if is_blank {
                    NoteKind::NoSamples
                } else if is_idle {
                    NoteKind::AlmostIdle {
                        used_ms: ms(used),
                        window_ms: ms(self.window),
                        samples: self.samples,
                    }
                } else {
                    NoteKind::FewSamples { samples: self.samples }
                }
            }),
            cut.map(|share| NoteKind::CutStacks {
                share,
                advice: LANGUAGES.advice(|language| language.whole_stacks.as_ref()),
            }),
            (nameless > 0.1).then(|| NoteKind::NamelessCode {
                share: nameless,
                advice: LANGUAGES.advice(|language| language.named_code.as_ref()),
            }),
            (self.lost_share > 0.01).then_some(NoteKind::LostSamples { share: self.lost_share }),
            match self.profiler.kernel {
                Kernel::Frames => None,
                Kernel::Callers => Some(NoteKind::KernelInCallers),
                Kernel::Missing => Some(NoteKind::KernelMissing),
            },
            self.cpu_agreement().filter(|agreement| is_enough && is_far(*agreement)).map(|_| {
                NoteKind::CpuDisagrees { sampled_ms: ms(self.sampled_cpu), counted_ms: ms(used) }
            }),
        ];
        self.notes.extend(notes.into_iter().flatten());
        self
    }
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_its_notice() {
        type Fault = (fn(&mut Recording), fn(&NoteKind) -> bool);
        let faults: [Fault; 9] = [
            (
                |recording| {
                    recording.samples = 46;
                    recording.sampled_cpu = Duration::from_millis(92);
                    recording.system_cpu = Some(Duration::from_millis(93));
                },
                |kind| {
                    matches!(
                        kind,
                        NoteKind::AlmostIdle { samples: 46, used_ms: 93.0, window_ms: 10e3 }
                    )
                },
            ),
            (
                |recording| {
                    recording.samples = 0;
                    recording.sampled_cpu = Duration::ZERO;
                    recording.system_cpu = None;
                },
                |kind| *kind == NoteKind::NoSamples,
            ),
            (
                |recording| recording.samples = 150,
                |kind| *kind == NoteKind::FewSamples { samples: 150 },
            ),
            (
                |recording| recording.rooted_share = Some(0.004),
                |kind| matches!(kind, NoteKind::CutStacks { share: 0.996, advice } if advice.contains("keep unwind tables")),
            ),
            (
                |recording| {
                    recording.stacks = "start_thread;[JIT];work 2500\nmain 2500\n".parse().unwrap()
                },
                |kind| matches!(kind, NoteKind::NamelessCode { share: 0.5, advice } if advice.contains("--perf-basic-prof")),
            ),
            (
                |recording| recording.lost_share = 0.12,
                |kind| *kind == NoteKind::LostSamples { share: 0.12 },
            ),
            (
                |recording| recording.sampled_cpu /= 2,
                |kind| {
                    *kind == NoteKind::CpuDisagrees { sampled_ms: 5_000.0, counted_ms: 10_000.0 }
                },
            ),
            (
                |recording| {
                    recording.profiler.kernel = Kernel::Missing;
                    recording.sampled_cpu /= 2;
                },
                |kind| *kind == NoteKind::KernelMissing,
            ),
            (
                |recording| recording.profiler.kernel = Kernel::Callers,
                |kind| *kind == NoteKind::KernelInCallers,
            ),
        ];
        let length = Duration::from_secs(10);
        let window = Window { length, system_cpu: Some(length) };
        let stacks = "main;work 5000\n".parse().unwrap();
        let profiler = Profiler { name: "perf", label: "perf", kernel: Kernel::Frames };
        let healthy = Recording { sampled_cpu: length, ..Recording::new(profiler, stacks, window) };
        assert!(healthy.clone().with_notes().notes.is_empty());
        for (spoil, is_named) in faults {
            let mut recording = healthy.clone();
            spoil(&mut recording);
            let notes = recording.with_notes().notes;
            assert_eq!(notes.len(), 1, "{notes:?}");
            assert!(is_named(&notes[0]), "{notes:?}");
        }
    }
}
