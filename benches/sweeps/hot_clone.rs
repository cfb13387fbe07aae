//! When does the clone of a string matter? Measured over the length of the string.
//!
//! A clone allocates, which costs about the same at any length, and copies many bytes at a time.
//! Parsing reads bytes one by one, so with longer strings the clone's share shrinks. The parameter is
//! the length of an id in bytes: zeros, and a digit at the end.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};

const LENGTHS: [usize; 6] = [1, 4, 16, 64, 256, 1024];
const ROUNDS: u64 = 200;

/// The loop of the case's `slow`.
#[inline(never)]
#[expect(clippy::redundant_iter_cloned, reason = "the fault that is measured")]
fn slow(user_ids: &[String], rounds: u64) -> u64 {
    let mut result = 0;
    for i in 0..rounds {
        result += user_ids
            .iter()
            .cloned()
            .map(|user_id| user_id.parse::<u64>().expect("made from a number"))
            .fold(i, |sum, id| sum + id);
    }
    result
}

/// The loop of the case's `fixed`.
#[inline(never)]
fn fixed(user_ids: &[String], rounds: u64) -> u64 {
    let mut result = 0;
    for i in 0..rounds {
        result += user_ids
            .iter()
            .map(|user_id| user_id.parse::<u64>().expect("made from a number"))
            .fold(i, |sum, id| sum + id);
    }
    result
}

fn hot_clone(c: &mut Criterion) {
    let sum: u64 = (0..ROUNDS).map(|i| i + 1 + 2 + 3).sum();
    let mut group = c.benchmark_group("sweep-hot-clone");
    group.throughput(Throughput::Elements(ROUNDS));
    for length in LENGTHS {
        let user_ids = [1, 2, 3].map(|id| format!("{id:0length$}"));
        for (variant, sum_in_rounds) in
            [("slow", slow as fn(&[String], u64) -> u64), ("fixed", fixed)]
        {
            assert_eq!(sum_in_rounds(&user_ids, ROUNDS), sum);
            group.bench_function(BenchmarkId::new(variant, length), |bencher| {
                bencher.iter(|| sum_in_rounds(black_box(&user_ids), black_box(ROUNDS)));
            });
        }
    }
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = hot_clone }
benches::each_alone!(benches);
