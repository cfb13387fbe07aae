//! Error rates of the shipped procedure, from the order of the runs to the verdict: thousands of
//! simulated sessions on machines with drift, stalls and two speeds, from a fixed seed.
//! `cargo test --release -p lab-stats simulation -- --nocapture --test-threads 1` prints all rates.

mod rivals;
mod session;

use self::{
    rivals::RIVALS,
    session::{Machine, Rng, Session},
};
use super::Verdict;

/// Sessions per rate; they measure a rate of 2.5 % to within ±0.7 %.
const SESSIONS: usize = 2_000;

/// Its speed changes within most pairs, so no rule detects much, and switches up and down alternate
/// as the order of the pairs does.
const RESTLESS: Machine = Machine::TwoSpeeds(2.0);

const MACHINES: [Machine; 8] = [
    Machine::Quiet,
    Machine::Steady,
    Machine::Walk,
    Machine::Wave,
    Machine::Stalls,
    Machine::Busy,
    Machine::TwoSpeeds(10.0),
    RESTLESS,
];

/// The share of simulated sessions in %, for each of the conditions that `of` returns.
fn rates<const N: usize>(mut of: impl FnMut(&mut Rng) -> [bool; N]) -> [f64; N] {
    let mut rng = Rng(0x5eed);
    let mut counts = [0.0; N];
    for _ in 0..SESSIONS {
        let found = of(&mut rng);
        counts.iter_mut().zip(found).for_each(|(count, it)| *count += f64::from(u8::from(it)));
    }
    counts.map(|count| 100.0 * count / SESSIONS as f64)
}

fn print_row(name: &str, rates: &[f64]) {
    println!("{name:32}{}", rates.iter().map(|rate| format!("{rate:>8.1}")).collect::<String>());
}

/// Is the candidate called faster, slower, equivalent?
fn columns(verdict: Verdict) -> [bool; 3] {
    [Verdict::Faster, Verdict::Slower, Verdict::Equivalent].map(|it| it == verdict)
}

#[test]
fn a_wrong_verdict_is_rare() {
    println!("\nThroughput: nothing changed | the candidate is 5 % faster | 10 % faster");
    println!("{:32}{}", "verdicts, % of sessions", "  faster  slower   equiv".repeat(3));
    for (subjects, pairs) in [(2, 6), (2, 10), (2, 15), (3, 6), (4, 6)] {
        for machine in MACHINES {
            let found = rates(|rng| {
                let [throughput, _] = Session::new(rng, machine, subjects, pairs);
                let rows = [0.0, 0.05, 0.1].map(|it| columns(throughput.with(it).verdict()));
                let [[a, b, c], [d, e, f], [g, h, i]] = rows;
                [a, b, c, d, e, f, g, h, i]
            });
            print_row(&format!("{subjects} servers, {pairs:2} pairs, {machine:?}"), &found);
            let [up, down, _, power, wrong, missed, power_at_10, wrong_at_10, missed_at_10] = found;
            assert!(up + down <= if machine == RESTLESS { 3.5 } else { 1.5 });
            assert!(wrong + wrong_at_10 <= 0.5 && missed + missed_at_10 <= 0.5);
            assert!(power_at_10 >= if machine == RESTLESS { 10.0 } else { 45.0 });
            if let Machine::Quiet | Machine::Steady = machine {
                let few = pairs == 6 && machine == Machine::Steady;
                assert!(power_at_10 >= 95.0 && power >= if few { 50.0 } else { 90.0 });
            }
        }
    }
}

#[test]
fn one_primary_metric_errs_less_often_than_two() {
    println!("\nFaster or slower by throughput, CPU time, either: nothing changed | 5 % faster");
    for pairs in [6, 10, 15] {
        for machine in MACHINES {
            let found = rates(|rng| {
                let metrics = Session::new(rng, machine, 2, pairs);
                let [[a, b], [c, d]] = [0.0, 0.05].map(|effect| {
                    let verdicts = metrics.each_ref().map(|metric| metric.with(effect).verdict());
                    verdicts.map(|it| matches!(it, Verdict::Faster | Verdict::Slower))
                });
                [a, b, a || b, c, d, c || d]
            });
            print_row(&format!("{pairs:2} pairs, {machine:?}"), &found);
            assert!(found[1] <= if machine == RESTLESS { 3.5 } else { 1.5 });
            assert!(found[2] <= 5.0, "either metric");
        }
    }
}

#[test]
fn a_repeated_comparison_errs_more_often_and_detects_most() {
    println!("\n6 pairs; if undecided, 12; if undecided, 24: nothing changed | 5 % faster");
    println!("{:32}{}", "verdicts, % of sessions", "  faster  slower   equiv".repeat(2));
    for machine in MACHINES {
        let found = rates(|rng| {
            let [[a, b, c], [d, e, f]] = [0.0, 0.05].map(|effect| {
                let mut verdicts = [6, 12, 24].into_iter().map(|pairs| {
                    let [throughput, _] = Session::new(rng, machine, 2, pairs);
                    throughput.with(effect).verdict()
                });
                verdicts.find(|it| *it != Verdict::Undecided).map_or([false; 3], columns)
            });
            [a, b, c, d, e, f]
        });
        print_row(&format!("{machine:?}"), &found);
        let [up, down, _, power, wrong, missed] = found;
        assert!(up + down <= if machine == RESTLESS { 8.0 } else { 2.0 });
        assert!(power >= if machine == RESTLESS { 25.0 } else { 90.0 });
        assert!(wrong + missed <= 0.5);
    }
}

#[test]
fn on_its_worst_machine_the_signed_rank_test_detects_most() {
    println!("\nTests for a difference, % of sessions: nothing changed | 5 % faster");
    println!("{:32}{}", "", RIVALS.map(|(name, _)| format!("{name:>8}")).concat().repeat(2));
    for pairs in [6, 10, 15] {
        let mut worst = [100.0_f64; 4];
        for machine in MACHINES {
            let found = rates(|rng| {
                let [throughput, _] = Session::new(rng, machine, 2, pairs);
                let [[a, b, c, d], [e, f, g, h]] = [0.0, 0.05].map(|effect| {
                    let session = throughput.with(effect);
                    RIVALS.map(|(_, sees)| sees(&session))
                });
                [a, b, c, d, e, f, g, h]
            });
            print_row(&format!("{pairs:2} pairs, {machine:?}"), &found);
            assert!(found[0] <= if machine == RESTLESS { 10.5 } else { 6.5 });
            worst.iter_mut().zip(&found[4..]).for_each(|(worst, power)| *worst = worst.min(*power));
        }
        let [ours, others @ ..] = worst;
        assert!(others.iter().all(|other| ours > *other), "{pairs} pairs: {worst:?}");
    }
}
