//! Comparisons that stop when they know, next to a fixed number of pairs.

use super::{
    ErrorLimits, MACHINES, RESTLESS, columns,
    session::{Session, SimulatedMachine, measure_with},
};
use crate::{Look, Speedup, SplitMix64, Verdict, schedule};

const SESSIONS: usize = 500;
const EFFECTS: [f64; 5] = [0.0, 0.03, 0.05, 0.15, 0.5];
/// The most pairs that a comparison measures: about a minute.
const LIMIT: usize = 36;
/// How long a short run and one of the fixed plan take, with start and warm-up.
const RUN_S: f64 = 0.8;
const LONG_RUN_S: f64 = 2.46;
/// Runs in which a machine drifts as far as in the 14 of the fixed plan, which take as long.
const DRIFT: usize = 42;
/// A short run measures a third as long, and has this many times the noise.
const NOISE: f64 = 1.75;

/// The verdict of a comparison that looks, and how many pairs it took.
fn decide(session: &Session, minimum: f64) -> (Verdict, usize) {
    let mut look = Look::first(1);
    loop {
        let verdict = session.verdict_at(look, minimum);
        if verdict != Verdict::Undecided || look.next().pairs > LIMIT {
            return (verdict, look.pairs);
        }
        look = look.next();
    }
}

/// The percentages of `columns`, and the seconds of half and of 90 % of the comparisons.
struct Rates {
    verdicts: [f64; 3],
    seconds: [f64; 2],
}

fn rates(of: impl Fn(&mut SplitMix64) -> (Verdict, f64)) -> Rates {
    let mut rng = SplitMix64(0x5eed);
    let (mut counts, mut seconds) = ([0_u32; 3], Vec::new());
    for _ in 0..SESSIONS {
        let (verdict, took) = of(&mut rng);
        seconds.push(took);
        counts.iter_mut().zip(columns(verdict)).for_each(|(count, is)| *count += u32::from(is));
    }
    seconds.sort_by(f64::total_cmp);
    Rates {
        verdicts: counts.map(|count| 100.0 * f64::from(count) / SESSIONS as f64),
        seconds: [seconds[SESSIONS / 2], seconds[SESSIONS * 9 / 10]],
    }
}

fn looking(machine: SimulatedMachine, effect: f64, minimum: f64) -> Rates {
    rates(|rng| {
        let slots = schedule(2, LIMIT, (1e15 * rng.uniform()) as u64);
        let runs = measure_with(rng, machine, slots.len(), DRIFT, NOISE);
        let [session, _] = Session::of(1, &slots, &runs);
        let (verdict, pairs) = decide(&session.with(effect), minimum);
        (verdict, (2 * pairs) as f64 * RUN_S)
    })
}

fn fixed(machine: SimulatedMachine, effect: f64, minimum: f64) -> Rates {
    rates(|rng| {
        let [session, _] = Session::new(rng, machine, 2, 6);
        (session.with(effect).verdict(minimum), 14.0 * LONG_RUN_S)
    })
}

#[test]
fn a_comparison_that_stops_when_it_knows_errs_as_rarely_as_a_fixed_one() {
    for minimum in [0.1, 0.03] {
        println!(
            "\nMinimum effect {minimum}: faster, slower, small; seconds of half and of 90 % of the sessions; for true\n\
             effects of {EFFECTS:?}. In the second line of a machine, six pairs of long runs"
        );
        for machine in MACHINES {
            let of = |rule: fn(SimulatedMachine, f64, f64) -> Rates| {
                EFFECTS.map(|effect| rule(machine, effect, minimum))
            };
            let [found, plan] = [of(looking), of(fixed)];
            let name = format!("{machine:?}");
            for (name, row) in [(&*name, &found), ("", &plan)] {
                print!("{name:36}");
                for Rates { verdicts: [up, down, small], seconds: [half, most] } in row {
                    print!(" |{up:>6.1}{down:>5.1}{small:>6.1}{half:>5.0}{most:>5.0}");
                }
                println!();
            }
            let ErrorLimits { alarms, reversals, power } = ErrorLimits::on(machine);
            let [nothing, .., much, double] = &found;
            let [up, down, small] = nothing.verdicts;
            assert!(up + down <= alarms, "{name}: {up} {down}");
            assert!(much.verdicts[1] <= reversals && much.verdicts[2] <= 1.0, "{name}");
            assert!(much.verdicts[0] >= power.max(plan[3].verdicts[0] - 5.0), "{name}");
            assert!(double.verdicts[0] >= 55.0, "{name}");
            if minimum == 0.1 && machine != RESTLESS {
                assert!(small >= plan[0].verdicts[2] - 5.0, "{name}: {small}");
            }
        }
    }
}

/// What the verdict would be wrong about if nobody paid for the looks.
#[test]
fn looks_that_nobody_pays_for_would_exclude_the_truth_far_more_often() {
    let mut wrong = [0; 2];
    let mut rng = SplitMix64(0x5eed);
    for _ in 0..SESSIONS {
        let slots = schedule(2, LIMIT, (1e15 * rng.uniform()) as u64);
        let runs = measure_with(&mut rng, SimulatedMachine::Steady, slots.len(), DRIFT, NOISE);
        let [session, _] = Session::of(1, &slots, &runs);
        let excludes = |of: &dyn Fn(Look) -> Speedup| {
            let looks = std::iter::successors(Some(Look::first(1)), |look| Some(look.next()));
            let mut looks = looks.take_while(|look| look.pairs <= LIMIT);
            looks.any(|look| {
                let found = of(look);
                found.low > 1.0 || found.high < 1.0
            })
        };
        let paid = |look: Look| Speedup::of_look(session.ratios(), look).unwrap();
        let free =
            |look: Look| Speedup::of_look(session.ratios(), Look::only(look.pairs, 1)).unwrap();
        wrong[0] += u32::from(excludes(&paid));
        wrong[1] += u32::from(excludes(&free));
    }
    let [paid, free] = wrong.map(|count| 100.0 * f64::from(count) / SESSIONS as f64);
    println!(
        "\nAt any look, the interval of equal servers excludes 1, in %: {paid}; at 95 % for each look: {free}"
    );
    assert!(paid <= 5.0 && free >= 10.0, "{paid} {free}");
}
