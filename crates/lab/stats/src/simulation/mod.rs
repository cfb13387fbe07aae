//! Error rates of the interval and the verdict on a realistic machine: thousands of simulated sessions
//! with drift, noise and stalls, from a fixed seed. `cargo test -p lab-stats simulation --
//! --nocapture` prints all rates.

mod rivals;
mod session;

use self::{
    rivals::RIVALS,
    session::{Drift, Rng, Session},
};
use super::{Verdict, judge};

/// Sessions per rate; they measure a rate of 5 % to within ±0.7 %.
const SESSIONS: u32 = 4_000;

/// The number of sessions in which each of [`RIVALS`] detects a difference.
fn detections(drift: Drift, pairs: usize, effect: f64) -> [u32; 4] {
    let mut rng = Rng(0x5eed);
    let mut seen = [0; 4];
    for _ in 0..SESSIONS {
        let session = Session::new(&mut rng, drift, pairs, effect);
        seen.iter_mut()
            .zip(RIVALS)
            .for_each(|(seen, (_, sees))| *seen += u32::from(sees(&session)));
    }
    seen
}

/// The number of sessions with each verdict: faster, slower, equivalent, undecided. A
/// `control` of 0 pairs means no control.
fn verdicts(pairs: usize, control: usize, effect: f64) -> [u32; 4] {
    let mut rng = Rng(0xca11);
    let mut counts = [0; 4];
    for _ in 0..SESSIONS {
        let speedup = Session::new(&mut rng, Drift::Walk, pairs, effect).speedup();
        let control =
            (control > 0).then(|| Session::new(&mut rng, Drift::Walk, control, 0.0).speedup());
        let slot = match judge(Some(&speedup), control.as_ref(), 0.03).verdict {
            Verdict::Faster => 0,
            Verdict::Slower => 1,
            Verdict::Equivalent => 2,
            Verdict::Undecided => 3,
        };
        counts[slot] += 1;
    }
    counts
}

/// Formats counts as percentages of all sessions.
fn rates(counts: [u32; 4]) -> String {
    let rates =
        counts.map(|count| format!("{:>13.1}", 100.0 * f64::from(count) / f64::from(SESSIONS)));
    rates.concat()
}

#[test]
fn the_interval_keeps_its_error_rate_and_detects_more_than_the_t_test() {
    // Sessions with a false alarm, and sessions that detect a true 5 %, in the order of `RIVALS`.
    let expected = [
        (Drift::Walk, 10, [189, 67, 16, 50], [2000, 1622, 1332, 2366]),
        (Drift::Walk, 12, [190, 91, 40, 55], [2740, 1722, 1486, 2712]),
        (Drift::Walk, 20, [185, 111, 64, 54], [3414, 1872, 1727, 3559]),
        (Drift::Wave, 10, [105, 34, 5, 3], [2021, 1618, 487, 485]),
        (Drift::Wave, 12, [122, 59, 20, 8], [2759, 1719, 787, 805]),
        (Drift::Wave, 20, [148, 91, 24, 6], [3427, 1878, 1354, 2104]),
    ];
    println!("{:32}{}", "", RIVALS.map(|(name, _)| format!("{name:>13}")).concat());
    for (drift, pairs, alarms, power) in expected {
        let found = [0.0, 0.05].map(|effect| detections(drift, pairs, effect));
        println!("{drift:?}, {pairs} pairs, false alarms % {}", rates(found[0]));
        println!("{drift:?}, {pairs} pairs, 5 % detected % {}", rates(found[1]));
        assert_eq!(found, [alarms, power]);
        assert!(f64::from(alarms[0]) <= 0.06 * f64::from(SESSIONS));
        assert!(power[0] >= power[1], "the t test detects more");
    }
}

#[test]
fn a_false_verdict_is_rare() {
    // Pairs, and pairs of the control.
    let designs = [(6, 4), (10, 0), (10, 3), (10, 10), (12, 0), (12, 12), (20, 20)];
    println!("{:34}       faster       slower   equivalent    undecided", "");
    for (pairs, control) in designs {
        let found = [0.0, 0.05].map(|effect| verdicts(pairs, control, effect));
        println!("{pairs:2} pairs, control of {control:2}, A/A     % {}", rates(found[0]));
        println!("{pairs:2} pairs, control of {control:2}, +5 %    % {}", rates(found[1]));
        let false_verdicts = f64::from(found[0][0] + found[0][1]) / f64::from(SESSIONS);
        assert!(false_verdicts <= if control > 0 { 0.01 } else { 0.025 });
        assert_eq!(found[1][1], 0, "a faster candidate is never judged slower");
    }
}
