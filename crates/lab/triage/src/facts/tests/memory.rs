use super::*;
use crate::measure::{MemoryLook, WorkPace};

/// A look for each of 26 seconds of CPU time.
fn memory(used_mib: impl Fn(f64) -> f64) -> Facts {
    let look = |second: u32| MemoryLook {
        worked_s: f64::from(second),
        used_mib: used_mib(f64::from(second)),
        mapped_mib: 0.0,
    };
    let looks = (0..=26).map(look).collect();
    let pace = Some(WorkPace { cpu_s_per_visit: 1e-4, cores: 0.5 });
    let memory = MemoryHistory { looks, pace, ..MemoryHistory::default() };
    let levels = vec![(1, outcome(&[(1, 900)]))];
    facts(&Measured { requests: 2, memory, ..measured(levels) })
}

#[test]
fn memory_that_grows_to_the_end_is_a_leak_with_what_each_request_leaves() {
    let is_leak = |facts: &Facts| {
        let (suspects, _) = crate::Rules::read().unwrap().judge(facts);
        suspects.iter().any(|it| it.id == "leak")
    };
    let leak = memory(|second| 40.0 + 10.0 * second);
    for (figure, value) in [
        (Figure::MemoryBeforeMib, 40.0),
        (Figure::MemoryAfterMib, 300.0),
        (Figure::MemoryGrownShare, 260.0 / 300.0),
        (Figure::MemorySteady, 1.0),
        // A visit of two requests takes a tenth of a millisecond.
        (Figure::MemoryBytesPerRequest, 10.0 * 1_048_576.0 / 20_000.0),
        (Figure::MemoryMibPerMinute, 300.0),
    ] {
        let found = leak.get(figure).unwrap();
        assert!((found / value - 1.0).abs() < 1e-6, "{figure:?}: {found}");
    }
    assert!(is_leak(&leak));
    for (name, healthy) in [
        ("a cache", memory(|second| 40.0 + 10.0 * second.min(16.0))),
        ("a small one", memory(|second| 40.0 + 0.05 * second)),
        ("a large server", memory(|second| 4000.0 + second)),
    ] {
        assert!(!is_leak(&healthy) && healthy.get(Figure::MemorySteady) == Some(0.0), "{name}");
    }
    let nothing = facts(&measured(vec![(1, outcome(&[(1, 900)]))]));
    assert!(!is_leak(&nothing) && nothing.get(Figure::MemorySteady).is_none());
}
