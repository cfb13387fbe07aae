//! A clone in every round, and five alternatives, over 10,000 rounds of three short ids.
//!
//! `borrow` is the case's fix. `parse-once` does less work: the ids never change, so it parses them
//! before the first round.

use std::{borrow::Cow, hint::black_box, sync::Arc};

use criterion::{Criterion, Throughput, criterion_group};

const ROUNDS: u64 = 10_000;

fn parse(user_id: &str) -> u64 {
    user_id.parse().expect("made from a number")
}

/// The fault: each round allocates three strings and frees them.
#[inline(never)]
#[expect(clippy::redundant_iter_cloned, reason = "the fault that is measured")]
fn clone(user_ids: &[String], rounds: u64) -> u64 {
    let mut result = 0;
    for i in 0..rounds {
        result += user_ids.iter().cloned().map(|id| parse(&id)).fold(i, |sum, id| sum + id);
    }
    result
}

/// `clone` with ids that are shared. A clone adds one to a counter of owners, and its drop subtracts one.
#[inline(never)]
#[expect(clippy::redundant_iter_cloned, reason = "the alternative that is measured")]
fn arc_str(user_ids: &[Arc<str>], rounds: u64) -> u64 {
    let mut result = 0;
    for i in 0..rounds {
        result += user_ids.iter().cloned().map(|id| parse(&id)).fold(i, |sum, id| sum + id);
    }
    result
}

/// `clone` with ids that may be borrowed. The clone of a borrowed `Cow` copies a pointer; the clone of an owned `Cow`
/// copies the string.
#[inline(never)]
#[expect(clippy::redundant_iter_cloned, reason = "the alternative that is measured")]
fn cow(user_ids: &[Cow<'_, str>], rounds: u64) -> u64 {
    let mut result = 0;
    for i in 0..rounds {
        result += user_ids.iter().cloned().map(|id| parse(&id)).fold(i, |sum, id| sum + id);
    }
    result
}

/// The fix.
#[inline(never)]
fn borrow(user_ids: &[String], rounds: u64) -> u64 {
    let mut result = 0;
    for i in 0..rounds {
        result += user_ids.iter().map(|id| parse(id)).fold(i, |sum, id| sum + id);
    }
    result
}

/// Parses the ids once, before the first round.
#[inline(never)]
fn parse_once(user_ids: &[String], rounds: u64) -> u64 {
    let user_ids: Vec<u64> = user_ids.iter().map(|id| parse(id)).collect();
    let mut result = 0;
    for i in 0..rounds {
        result += user_ids.iter().fold(i, |sum, id| sum + id);
    }
    result
}

fn hot_clone(c: &mut Criterion) {
    let strings = ["1", "2", "3"].map(str::to_owned);
    let shared = strings.each_ref().map(|id| Arc::from(id.as_str()));
    let borrowed = strings.each_ref().map(|id| Cow::Borrowed(id.as_str()));
    let owned = strings.each_ref().map(|id| Cow::<str>::Owned(id.clone()));
    let sum: u64 = (0..ROUNDS).map(|i| i + 1 + 2 + 3).sum();

    let mut group = c.benchmark_group("alternatives-hot-clone");
    group.throughput(Throughput::Elements(ROUNDS));
    let mut bench = |name: &str, alternative: &dyn Fn() -> u64| {
        assert_eq!(alternative(), sum, "{name}");
        group.bench_function(name, |bencher| bencher.iter(alternative));
    };
    // Without `black_box` the compiler could compute the sum itself.
    let rounds = || black_box(ROUNDS);
    bench("clone", &|| clone(black_box(&strings), rounds()));
    bench("cow-owned", &|| cow(black_box(&owned), rounds()));
    bench("arc-str", &|| arc_str(black_box(&shared), rounds()));
    bench("cow-borrowed", &|| cow(black_box(&borrowed), rounds()));
    bench("borrow", &|| borrow(black_box(&strings), rounds()));
    bench("parse-once", &|| parse_once(black_box(&strings), rounds()));
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = hot_clone }
benches::each_alone!(benches);
