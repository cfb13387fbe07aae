use super::*;
use crate::measure::MemoryLook;

/// A look for each second of CPU time.
fn memory(used_mib: &[f64], mapped_mib: f64, maps_early: bool) -> Facts {
    let look = |(second, used): (usize, &f64)| MemoryLook {
        worked_s: second as f64,
        used_mib: *used,
        mapped_mib: if second == 0 { 400.0 } else { 400.0 + mapped_mib },
    };
    let level = Outcome {
        server_rss_mib: vec![70.0, 72.0, 74.0, 76.0, 78.0, 80.0],
        ..outcome(&[(20, 800)])
    };
    facts(&Measured {
        memory: used_mib.iter().enumerate().map(look).collect(),
        maps_early,
        ..measured(vec![(1, outcome(&[(1, 900)])), (WATCHED, level)])
    })
}

#[test]
fn memory_that_grows_to_the_end_is_a_leak_with_what_each_request_leaves() {
    let is_leak = |facts: &Facts| {
        let (suspects, _) = crate::Rules::read().unwrap().judge(facts);
        suspects.iter().any(|it| it.id == "leak")
    };
    let leak = memory(&[40.0, 80.0, 120.0, 160.0, 200.0, 240.0, 280.0], 240.0, false);
    for (figure, value) in [
        (Figure::MemoryBeforeMib, 40.0),
        (Figure::MemoryAfterMib, 280.0),
        (Figure::MemoryGrownShare, 240.0 / 280.0),
        (Figure::MemoryPerRequestKib, 10.0 * 1024.0 / 800.0),
    ] {
        let found = leak.get(figure).unwrap();
        assert!((found / value - 1.0).abs() < 1e-6, "{figure:?}: {found}");
    }
    assert!(is_leak(&leak));
    for (name, healthy) in [
        ("a cache", memory(&[40.0, 80.0, 120.0, 160.0, 200.0, 220.0, 220.0], 180.0, false)),
        ("a small one", memory(&[40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0], 6.0, false)),
        ("a large server", memory(&[4e3, 4e3, 4e3, 4e3, 4003.0, 4006.0, 4010.0], 10.0, false)),
        (
            "a heap that was mapped",
            memory(&[40.0, 80.0, 120.0, 160.0, 200.0, 240.0, 280.0], 1.0, true),
        ),
        ("nothing", memory(&[], 0.0, false)),
    ] {
        assert!(!is_leak(&healthy), "{name}");
    }
    let mapped = memory(&[40.0, 80.0, 120.0, 160.0, 200.0, 240.0, 280.0], 300.0, true);
    assert!(is_leak(&mapped));
}
