//! What a reader of a picture has to know of its recording, a sentence each.

use std::time::Duration;

use super::super::{Recording, Rung};
use crate::display::thousands;

/// Fewer samples than these show no shares.
const FEW: u64 = 200;
/// The share of a window's time below which a server counts as almost idle.
const IDLE: f64 = 0.1;

/// Everything that the figures of a recording give cause to say.
pub(super) fn of(recording: &Recording) -> Vec<String> {
    let checks = [few, cut, lost, user_only, disagreement];
    checks.iter().filter_map(|check| check(recording)).collect()
}

fn few(recording: &Recording) -> Option<String> {
    let samples = recording.samples;
    if samples >= FEW {
        return None;
    }
    let used = recording.system_cpu.unwrap_or(recording.sampled_cpu);
    if used.as_secs_f64() < IDLE * recording.window.as_secs_f64() {
        return Some(format!(
            "the server was almost idle: it used {} of CPU in {} ({samples} samples), and that is \
             the finding: what takes time here is waiting",
            ms(used),
            ms(recording.window)
        ));
    }
    Some(format!("only {samples} samples: shares of them are rough; mend: record for longer"))
}

fn cut(recording: &Recording) -> Option<String> {
    let rooted = recording.rooted_share.filter(|rooted| *rooted < 0.9)?;
    let mend = match recording.rung {
        Rung::PerfWithKernel | Rung::PerfUserOnly => {
            "keep unwind tables and line tables in the build (`--profile profiling`), and use a \
             perf for which `perf version --build-options` shows libdw or libunwind as on"
        }
        _ => "keep unwind tables in the build, or record with perf",
    };
    let cut = 100.0 * (1.0 - rooted);
    Some(format!("{cut:.0} % of the stacks were cut and hang at the wrong place; mend: {mend}"))
}

fn lost(recording: &Recording) -> Option<String> {
    (recording.lost_share > 0.01).then(|| {
        format!(
            "{:.0} % of the samples were lost, as the profiler could not keep up; mend: stop other \
             work on this machine, or record fewer requests at a time",
            100.0 * recording.lost_share
        )
    })
}

fn user_only(recording: &Recording) -> Option<String> {
    match recording.rung {
        Rung::PerfUserOnly => {
            let system = recording.system_cpu.map(|all| all.saturating_sub(recording.sampled_cpu));
            let about = system.map_or(String::new(), |kernel| format!(", about {},", ms(kernel)));
            Some(format!(
                "user frames only: what the kernel did for the server{about} is not in the picture"
            ))
        }
        Rung::InProcess => Some(
            "user frames only: the kernel's work shows as the function that asked for it"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Samples that are far from the system's account tell of something else than the server's CPU time.
fn disagreement(recording: &Recording) -> Option<String> {
    let agreement = recording.cpu_agreement()?;
    // Without the kernel's frames its time is not sampled, which is said already.
    let sees_all = recording.rung != Rung::PerfUserOnly;
    let too_low = sees_all && agreement < 0.8;
    (recording.samples >= FEW && (too_low || agreement > 1.25)).then(|| {
        format!(
            "the samples stand for {} of CPU time, and the system counted {}: trust the picture's \
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
    use crate::flame::Folded;

    fn healthy() -> Recording {
        Recording {
            rung: Rung::PerfWithKernel,
            stacks: Folded::default(),
            samples: 5000,
            rooted_share: Some(1.0),
            lost_share: 0.0,
            sampled_cpu: Duration::from_secs(10),
            system_cpu: Some(Duration::from_secs(10)),
            window: Duration::from_secs(10),
            file: None,
            by_timer: true,
            notices: Vec::new(),
        }
    }

    fn said(spoil: impl Fn(&mut Recording)) -> String {
        let mut recording = healthy();
        spoil(&mut recording);
        of(&recording).join("\n")
    }

    #[test]
    fn a_healthy_recording_needs_no_words() {
        assert_eq!(of(&healthy()), Vec::<String>::new());
    }

    #[test]
    fn an_idle_server_is_a_finding() {
        let words = said(|it| {
            it.samples = 46;
            it.sampled_cpu = Duration::from_millis(92);
            it.system_cpu = Some(Duration::from_millis(93));
        });
        assert!(words.contains("it used 93 ms of CPU in 10,000 ms"), "{words}");
        assert!(words.contains("that is the finding"), "{words}");
    }

    #[test]
    fn few_samples_of_a_busy_server_are_only_few() {
        let words = said(|it| it.samples = 150);
        assert!(words.starts_with("only 150 samples") && !words.contains("idle"), "{words}");
    }

    #[test]
    fn cut_and_lost_samples_are_told_with_their_mend() {
        let words = said(|it| it.rooted_share = Some(0.004));
        assert!(words.contains("100 % of the stacks were cut"), "{words}");
        assert!(words.contains("mend: keep unwind tables"), "{words}");
        let words = said(|it| it.lost_share = 0.12);
        assert!(words.starts_with("12 % of the samples were lost"), "{words}");
    }

    #[test]
    fn time_that_was_not_sampled_is_told() {
        let words = said(|it| it.sampled_cpu = Duration::from_secs(5));
        assert!(words.contains("stand for 5,000 ms of CPU time"), "{words}");
        let words = said(|it| {
            it.rung = Rung::PerfUserOnly;
            it.sampled_cpu = Duration::from_secs(5);
        });
        assert!(words.starts_with("user frames only"), "{words}");
        assert!(words.contains("about 5,000 ms") && !words.contains("trust"), "{words}");
    }
}
