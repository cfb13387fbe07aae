//! Reads stacks from the output of `perf script`.
//!
//! `inferno` reads it too, but it weighs samples by their periods, keeps only one of two events (a
//! processor with efficient and fast cores has one each), counts frames of the `[vdso]` as the
//! kernel's, and splits Rust names at their `->`.

use std::time::Duration;

use anyhow::Context as _;

use lab_observation::{Folded, JIT};

/// Addresses from here on are the kernel's.
const KERNEL: u64 = 0xffff_8000_0000_0000;

/// Where an unwinder that lost its way ends: not a function of the kernel, although its address is as high.
const NOWHERE: &str = "ffffffffffffffff ";

/// The samples of a recording.
#[derive(Debug, Default)]
pub struct Script {
    /// The stacks, weighted in samples; the kernel's frames end in `_[k]`. A sample without frames
    /// has the stack `[unknown]`.
    pub stacks: Folded,
    /// How many samples `perf` noted as lost. Its buffers leave a note when they had to drop some,
    /// but only once there is room again: see also [`lost_samples`].
    pub lost: u64,
    /// The sum of all periods: nanoseconds for a timer.
    periods: u64,
    /// The event of the last sample, such as `cpu-clock:ppp` or `cycles:u`.
    event: String,
    /// The frames of the sample that is being read, the innermost first.
    stack: Option<Vec<String>>,
}

impl Script {
    /// Reads the next line, of the fields period, event, ip, sym and dso: a head for each sample, then
    /// its frames, the innermost first, then an empty line. The script of a long recording is larger
    /// than memory, so only its distinct stacks are kept.
    pub fn line(&mut self, line: &str) -> anyhow::Result<()> {
        let odd = || format!("not a line of a sample: `{line}`");
        if line.trim().is_empty() || line.contains("PERF_RECORD_") {
            self.end();
            self.lost = self.lost.saturating_add(lost_note(line).unwrap_or(0));
        } else if line.starts_with('\t') {
            let frame = frame(line.trim()).with_context(odd)?;
            let stack = self.stack.as_mut().with_context(odd)?;
            if !line.trim().starts_with(NOWHERE) {
                stack.push(frame);
            }
        } else {
            self.end();
            // A sample without a call chain has its only frame, if any, on the same line.
            let (period, rest) = line.trim().split_once(' ').with_context(odd)?;
            let (event, rest) = rest.trim().split_once(": ").unwrap_or((rest.trim(), ""));
            let period = period.parse().ok();
            let periods = period.and_then(|period| self.periods.checked_add(period));
            self.periods = periods.with_context(odd)?;
            event.trim_end_matches(':').clone_into(&mut self.event);
            self.stack = Some(match rest.trim() {
                "" => Vec::new(),
                single => vec![frame(single).with_context(odd)?],
            });
        }
        Ok(())
    }

    /// Ends the last sample.
    pub fn end(&mut self) {
        let Some(mut stack) = self.stack.take() else { return };
        stack.reverse();
        if stack.is_empty() {
            stack.push("[unknown]".to_owned());
        }
        self.stacks.add(stack, 1);
    }

    /// The CPU time that the samples account for.
    pub fn cpu_time(&self, rate: u32) -> Duration {
        // A timer takes the samples where there are no hardware counters.
        if self.event.contains("-clock") {
            // Exact even where the system lowered the rate.
            Duration::from_nanos(self.periods)
        } else {
            Duration::from_secs_f64(self.stacks.total() as f64 / f64::from(rate))
        }
    }

    /// Whether the samples exclude the kernel.
    pub fn is_confined(&self) -> bool {
        let modifiers = self.event.rsplit_once(':').map_or("", |(_, modifiers)| modifiers);
        modifiers.contains('u') && !modifiers.contains('k')
    }
}

/// The name in `89eb8 start_thread (/usr/lib/libc.so.6)`; a nameless frame is named after its
/// file.
fn frame(line: &str) -> Option<String> {
    let (address, rest) = line.split_once(' ')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let rest = rest.strip_suffix(')').unwrap_or(rest);
    // A path may have spaces and parentheses. No name of a function has ` (/`.
    let nameless = || rest.strip_prefix('(').map(|path| ("", path));
    let parts = nameless().filter(|(_, path)| path.starts_with('/'));
    let parts = parts.or_else(|| Some(rest.split_at(rest.find(" (/")?)));
    let parts = parts.map(|(name, path)| (name, path.strip_prefix(" (").unwrap_or(path)));
    let (name, file) = parts.or_else(|| rest.rsplit_once(" (")).or_else(nameless)?;
    // A newer build may have replaced the file meanwhile.
    let path = file.trim_end_matches(" (deleted)");
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = match name.trim() {
        // Each process has its own map: with its number, two servers could not be compared.
        "[unknown]" | "" if file.starts_with("perf-") && file.ends_with(".map") => JIT.to_owned(),
        "[unknown]" | "" if path.starts_with('[') => file.to_owned(),
        "[unknown]" | "" => format!("[{file}]"),
        name => name.to_owned(),
    };
    Some(if is_kernel(address, path) { format!("{name}_[k]") } else { name })
}

/// The number in a note `PERF_RECORD_LOST lost 129`.
fn lost_note(line: &str) -> Option<u64> {
    let (_, note) = line.split_once("PERF_RECORD_LOST")?;
    note.split_once("lost ")?.1.trim().parse().ok()
}

/// The samples that the kernel counted as lost, in a line `LOST_SAMPLES events: 154` of `perf report
/// --stats`. A line with a percentage counts records. This count includes those of the notes.
pub fn lost_samples(line: &str) -> u64 {
    let count = line.trim().strip_prefix("LOST_SAMPLES events:");
    count.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or(0)
}

/// Whether a frame is the kernel's, by its address or by its file: `[kernel.kallsyms]`, a module in
/// brackets or as a file, or `vmlinux`. What the kernel maps into every process runs in user mode.
fn is_kernel(address: u64, path: &str) -> bool {
    let user = ["[vdso]", "[vsyscall]", "[unknown]", "[stack]", "[heap]", "[uprobes]", "[anon"];
    if user.iter().any(|name| path.starts_with(name)) {
        // Without a file, only the address decides.
        return path == "[unknown]" && address >= KERNEL;
    }
    let file = path.rsplit('/').next().unwrap_or(path);
    address >= KERNEL
        || path.starts_with('[')
        || [".ko", ".ko.gz", ".ko.xz", ".ko.zst"].iter().any(|end| file.ends_with(end))
        || file.starts_with("vmlinux")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Script> {
        let mut script = Script::default();
        text.lines().try_for_each(|line| script.line(line))?;
        script.end();
        Ok(script)
    }

    /// Output of `perf script` 6.1.
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
\t          7f2a10 [unknown] (/tmp/perf-4779.map)
\t            1111 [unknown] ([unknown])

   2004008 cpu-clock:ppp: 
\tffffffff81361d1b do_exit ([kernel.kallsyms])
\t             7d8 ipv4_conntrack_local ([nf_conntrack])

   2004008 cpu-clock:ppp: 

   2004008 cpu-clock:ppp:  ffffffff9aa3c8de [unknown] ([unknown])
";

    #[test]
    fn stacks_have_names_and_mark_the_kernel() {
        let script = read(SCRIPT).unwrap();
        assert_eq!(
            script.stacks.to_string(),
            "\
[unknown] 1
[unknown];[JIT];__vdso_clock_gettime 1
[unknown]_[k] 1
clone3;[libc.so.6];<F as core::ops::FnOnce<fn(u8) -> u8>>::call;cfree@GLIBC_2.2.5;\
rcu_do_batch_[k] 1
ipv4_conntrack_local_[k];do_exit_[k] 1
"
        );
        assert_eq!(script.lost, 129);
        assert_eq!(script.cpu_time(1), Duration::from_nanos(5 * 2_004_008));
        assert!(!script.is_confined());
    }

    #[test]
    fn a_path_may_have_any_spaces_and_parentheses() {
        for (path, name) in [
            ("/tmp/my (test) dir/srv", "srv"),
            ("/tmp/my (test) dir/srv (deleted)", "srv"),
            ("/tmp/a (/b/srv (2)", "srv (2)"),
            ("/tmp/x/srv (x86)", "srv (x86)"),
            ("/tmp/[srv]", "[srv]"),
            ("/tmp/srv.korea", "srv.korea"),
            ("/tmp/) (", ") ("),
            ("/tmp/ü [1] (2)/größe", "größe"),
        ] {
            for function in
                ["main", "<F as Fn(u8) -> u8>::call", "operator() (int)", "(anonymous) [clone]"]
            {
                let found = frame(&format!("12 {function} ({path})")).unwrap();
                assert_eq!(found, function, "{path}");
            }
            for nameless in [format!("12 [unknown] ({path})"), format!("12 ({path})")] {
                assert_eq!(frame(&nameless).unwrap(), format!("[{name}]"), "{path}");
            }
        }
    }

    #[test]
    fn an_unwinder_that_lost_its_way_did_not_come_from_the_kernel() {
        let lost = "1 cpu-clock:ppp: \n\tffffffff81361d1b vfs_statx ([kernel.kallsyms])\n\t 3d8668 [unknown] (/bin/miniserve)\n\tffffffffffffffff [unknown] ([unknown])\n\n";
        assert_eq!(read(lost).unwrap().stacks.to_string(), "[miniserve];vfs_statx_[k] 1\n");
    }

    #[test]
    fn a_counter_is_not_a_timer() {
        let script = read("  81000 cpu_core/cycles/Pu: \n\t 12 main (/x)\n\n").unwrap();
        assert_eq!(script.cpu_time(499), Duration::from_secs_f64(1.0 / 499.0));
    }

    #[test]
    fn a_perf_that_excluded_the_kernel_is_recognized() {
        let confined = |event| read(&format!("  1 {event}: \n")).unwrap().is_confined();
        assert!(confined("cpu-clock:uhppp") && confined("cycles:u"));
        assert!(!confined("cycles:P") && !confined("cycles") && !confined("cpu-clock:ppp"));
    }

    #[test]
    fn a_malformed_script_is_refused_or_has_a_stack_for_each_sample() {
        malformed_input::texts(
            [SCRIPT, "  81000 cpu_core/cycles/Pu: \n\t 12 main (/x)\n\n"],
            |text| {
                let Ok(script) = read(text) else { return };
                let heads =
                    text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('\t'));
                assert!(script.stacks.total() <= heads.count() as u64);
                assert!(script.stacks.iter().all(|(stack, _)| !stack.is_empty()));
                script.cpu_time(499);
                script.is_confined();
                text.lines().map(lost_samples).for_each(drop);
            },
        );
    }

    #[test]
    fn nonsense_is_an_error_and_an_empty_script_is_not() {
        assert!(read("").unwrap().stacks.is_empty());
        assert!(read("Segmentation fault\n").is_err());
        assert!(read("  1 cycles: \n\n  18446744073709551615 cycles: \n").is_err());
        assert!(read("\t 12 main (/x)\n").is_err());
    }

    #[test]
    fn lost_samples_are_counted_and_records_about_them_are_not() {
        let stats = "
Aggregated stats:
            LOST events:          1  ( 0.3%)
          SAMPLE events:        183  (53.2%)
    LOST_SAMPLES events:          2  ( 0.6%)
cpu-clock:ppp stats:
          SAMPLE events:        183
    LOST_SAMPLES events:        154
";
        assert_eq!(stats.lines().map(lost_samples).sum::<u64>(), 154);
    }
}
