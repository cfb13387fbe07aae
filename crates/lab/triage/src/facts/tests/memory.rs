use super::*;
use crate::measure::MemoryLook;

/// A look after each of 26 visits.
fn memory(used_mib: impl Fn(f64) -> f64) -> Facts {
    let look = |visits: u32| MemoryLook {
        visits: f64::from(visits),
        used_mib: used_mib(f64::from(visits)),
        mapped_mib: 0.0,
    };
    let looks = (0..=26).map(look).collect();
    let memory = MemoryHistory { looks, visits_per_s: Some(0.5), ..MemoryHistory::default() };
    let levels = vec![(1, outcome(&[(1, 900)]))];
    facts(&Measured { requests: 2, memory, ..measured(levels) })
}

#[test]
fn memory_that_grows_to_the_end_is_a_leak_with_what_each_request_leaves() {
    let is_leak = |facts: &Facts| {
        let (suspects, _) = crate::Rules::read().unwrap().judge(facts);
        suspects.iter().any(|it| it.id == "leak")
    };
    let leak = memory(|visits| 40.0 + 10.0 * visits);
    for (figure, value) in [
        (Figure::MemoryBeforeMib, 40.0),
        (Figure::MemoryAfterMib, 300.0),
        (Figure::MemoryGrownShare, 260.0 / 300.0),
        (Figure::MemorySteady, 1.0),
        // A visit has two requests.
        (Figure::MemoryBytesPerRequest, 5.0 * 1_048_576.0),
        (Figure::MemoryMibPerMinute, 300.0),
    ] {
        let found = leak.get(figure).unwrap();
        assert!((found / value - 1.0).abs() < 1e-6, "{figure:?}: {found}");
    }
    assert!(is_leak(&leak));
    for (name, healthy) in [
        ("a cache", memory(|visits| 40.0 + 10.0 * visits.min(16.0))),
        ("a small one", memory(|visits| 40.0 + 0.05 * visits)),
        ("a large server", memory(|visits| 4000.0 + visits)),
    ] {
        assert!(!is_leak(&healthy) && healthy.get(Figure::MemorySteady) == Some(0.0), "{name}");
    }
    let nothing = facts(&measured(vec![(1, outcome(&[(1, 900)]))]));
    assert!(!is_leak(&nothing) && nothing.get(Figure::MemorySteady).is_none());
}
