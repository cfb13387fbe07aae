//! What `perf script` prints, as stacks.
//!
//! `inferno` reads it too, and would take away what is needed here: it weighs samples by their
//! periods, keeps one event of a processor's two (efficient and fast cores have one each), counts
//! the frames of the `[vdso]` as the kernel's, and splits Rust's names at their `->`.

use std::time::Duration;

use anyhow::Context as _;

use super::super::{super::Folded, roots::is_rooted};

/// Addresses from here on are the kernel's.
const KERNEL: u64 = 0xffff_8000_0000_0000;

/// Samples that were read.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The stacks, outermost frame first; the kernel's frames end in `_[k]`.
    pub(super) stacks: Folded,
    /// How many samples there were, those without any frame included.
    pub(super) samples: u64,
    /// How many of them reach the start of their thread.
    rooted: u64,
    /// What was counted between two samples, added up: nanoseconds for a timer.
    periods: u64,
    /// The event of the last sample, such as `cpu-clock:ppp` or `cycles:u`.
    event: String,
    kernel_frames: u64,
    nameless_kernel_frames: u64,
}

impl Script {
    /// Reads the fields period, event, ip, sym and dso: a head for each sample, then its frames, the
    /// innermost first, then an empty line.
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        let mut script = Self::default();
        let mut stack: Option<Vec<String>> = None;
        for line in text.lines().chain([""]) {
            let odd = || format!("not a line of a sample: `{line}`");
            if line.trim().is_empty() || line.contains("PERF_RECORD_") {
                script.add(stack.take());
            } else if line.starts_with('\t') {
                let frame = script.frame(line.trim()).with_context(odd)?;
                stack.as_mut().with_context(odd)?.push(frame);
            } else {
                script.add(stack.take());
                // A sample without a chain has its only frame, if any, on the same line.
                let (period, rest) = line.trim().split_once(' ').with_context(odd)?;
                let (event, rest) = rest.trim().split_once(": ").unwrap_or((rest.trim(), ""));
                script.periods += period.parse::<u64>().with_context(odd)?;
                event.trim_end_matches(':').clone_into(&mut script.event);
                let single = (!rest.trim().is_empty()).then(|| script.frame(rest.trim()));
                stack = Some(
                    single.map(|frame| frame.with_context(odd)).transpose()?.into_iter().collect(),
                );
            }
        }
        Ok(script)
    }

    fn add(&mut self, stack: Option<Vec<String>>) {
        let Some(mut stack) = stack else { return };
        stack.reverse();
        self.samples += 1;
        self.rooted += u64::from(is_rooted(&stack));
        if stack.is_empty() {
            stack.push("[unknown]".to_owned());
        }
        self.stacks.add(stack, 1);
    }

    /// A frame's name from `89eb8 start_thread (/usr/lib/libc.so.6)`: what has no name is called
    /// after the file that it lies in.
    fn frame(&mut self, line: &str) -> Option<String> {
        let (address, rest) = line.split_once(' ')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        // The file may have been replaced by a newer build meanwhile.
        let rest = rest.trim_end_matches(')').trim_end_matches(" (deleted");
        let (name, file) =
            rest.rsplit_once(" (").or_else(|| Some(("", rest.strip_prefix('(')?)))?;
        let file = file.rsplit('/').next().unwrap_or(file);
        let name = match name.trim() {
            "[unknown]" | "" if file.starts_with('[') => file.to_owned(),
            "[unknown]" | "" => format!("[{file}]"),
            name => name.to_owned(),
        };
        if !is_kernel(address, file) {
            return Some(name);
        }
        self.kernel_frames += 1;
        self.nameless_kernel_frames += u64::from(name.starts_with('['));
        Some(format!("{name}_[k]"))
    }

    /// The share of samples that reach the start of their thread. Those that were taken in the
    /// kernel and have no frame of the program, such as one of a thread that ends, count as cut.
    pub(super) fn rooted_share(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.rooted as f64 / self.samples as f64)
    }

    /// The CPU time that the samples stand for.
    pub(super) fn cpu_time(&self, rate: u32) -> Duration {
        match self.is_timer() {
            // Exact, also where the system lowered the rate.
            true => Duration::from_nanos(self.periods),
            false => Duration::from_secs_f64(self.samples as f64 / f64::from(rate)),
        }
    }

    /// Whether there were no hardware counters.
    pub(super) fn is_timer(&self) -> bool {
        self.event.contains("-clock")
    }

    /// Whether the kernel kept its own code out.
    pub(super) fn is_confined(&self) -> bool {
        let modifiers = self.event.rsplit_once(':').map_or("", |(_, modifiers)| modifiers);
        modifiers.contains('u') && !modifiers.contains('k')
    }

    /// What only this reveals.
    pub(super) fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.nameless_kernel_frames * 2 > self.kernel_frames {
            let nameless = "the kernel's frames have no names; mend: \
                            sudo sysctl kernel.kptr_restrict=0";
            notices.push(nameless.to_owned());
        }
        notices
    }
}

/// Whether a frame is the kernel's, by its address or by the file: `[kernel.kallsyms]`, a module in
/// brackets or as a file, or `vmlinux`. What the kernel maps into every process runs in user mode.
fn is_kernel(address: u64, file: &str) -> bool {
    let user = ["[vdso]", "[vsyscall]", "[unknown]", "[stack]", "[heap]", "[uprobes]", "[anon"];
    if user.iter().any(|name| file.starts_with(name)) {
        // An address without a file can only be told by itself.
        return file == "[unknown]" && address >= KERNEL;
    }
    address >= KERNEL
        || file.starts_with('[')
        || file.contains(".ko")
        || file.starts_with("vmlinux")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `perf` 6.1 prints it.
    const SCRIPT: &str = "\
   2004008 cpu-clock:ppp: 
\tffffffff814035fb rcu_do_batch ([kernel.kallsyms])
\t           98f5e cfree@GLIBC_2.2.5 (/usr/lib/x86_64-linux-gnu/libc.so.6)
\t           b5e9b <F as core::ops::FnOnce<fn(u8) -> u8>>::call (/target/hot clone (deleted))
\t           89eb8 [unknown] (/usr/lib/x86_64-linux-gnu/libc.so.6)
\t          1098eb clone3 (/usr/lib/x86_64-linux-gnu/libc.so.6)

PERF_RECORD_LOST lost 129
   2004008 cpu-clock:ppp: 
\t             9f0 __vdso_clock_gettime ([vdso])
\t            1111 [unknown] ([unknown])

   2004008 cpu-clock:ppp: 
\tffffffff81361d1b do_exit ([kernel.kallsyms])
\t             7d8 ipv4_conntrack_local ([nf_conntrack])

   2004008 cpu-clock:ppp: 

   2004008 cpu-clock:ppp:  ffffffff9aa3c8de [unknown] ([unknown])
";

    #[test]
    fn stacks_have_their_names_and_the_kernels_mark() {
        let script = Script::read(SCRIPT).unwrap();
        assert_eq!(
            script.stacks.to_string(),
            "\
[unknown] 1
[unknown];__vdso_clock_gettime 1
[unknown]_[k] 1
clone3;[libc.so.6];<F as core::ops::FnOnce<fn(u8) -> u8>>::call;cfree@GLIBC_2.2.5;\
rcu_do_batch_[k] 1
ipv4_conntrack_local_[k];do_exit_[k] 1
"
        );
        assert_eq!((script.samples, script.rooted_share()), (5, Some(0.2)));
        assert_eq!(script.cpu_time(1), Duration::from_nanos(5 * 2_004_008));
        assert!(!script.is_confined());
        assert!(script.is_timer());
    }

    #[test]
    fn counters_are_no_clock() {
        let script = Script::read("  81000 cpu_core/cycles/Pu: \n\t 12 main (/x)\n\n").unwrap();
        assert_eq!(script.cpu_time(499), Duration::from_secs_f64(1.0 / 499.0));
        assert!(!script.is_timer());
    }

    #[test]
    fn a_perf_that_confined_itself_to_the_program_is_told() {
        let confined = |event| Script::read(&format!("  1 {event}: \n")).unwrap().is_confined();
        assert!(confined("cpu-clock:uhppp") && confined("cycles:u"));
        assert!(!confined("cycles:P") && !confined("cycles") && !confined("cpu-clock:ppp"));
    }

    #[test]
    fn kernel_frames_without_names_are_told_with_their_mend() {
        let script =
            Script::read("  1 cycles: \n\tffffffff814035fb [unknown] ([kernel.kallsyms])\n");
        let script = script.unwrap();
        assert_eq!(script.stacks.to_string(), "[kernel.kallsyms]_[k] 1\n");
        assert!(script.notices()[0].contains("kptr_restrict=0"));
    }

    #[test]
    fn no_samples_are_no_error_and_nonsense_is_one() {
        assert_eq!(Script::read("").unwrap().rooted_share(), None);
        assert!(Script::read("Segmentation fault\n").is_err());
        assert!(Script::read("\t 12 main (/x)\n").is_err());
    }
}
