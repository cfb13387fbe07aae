//! The model of a queue that the course predicts with.

/// How long an arrival waits in an M/D/1 queue, in ms: `quantile` of all arrivals, from 0 to 1, wait no
/// longer. Arrivals are random, `rate_per_s` of them, and each takes one server `service_ms`. So do
/// others that wait for the same server without occupying it. `None` for a server that can't keep up.
///
/// The distribution is that of A. K. Erlang (*Nyt Tidsskrift for Matematik* B 20, 1909):
/// P(W <= t) = (1 - rho) * sum of (-x)^k / k! * e^x, where x = rate * (t - k * service) >= 0.
pub fn md1_wait_ms(rate_per_s: f64, service_ms: f64, quantile: f64) -> Option<f64> {
    let load = rate_per_s * service_ms / 1e3;
    let is_stable = load > 0.0 && load < 1.0 && (0.0..1.0).contains(&quantile);
    if !is_stable {
        return None;
    }
    let share = |ms: f64| {
        let (mut sum, mut k) = (0.0, 0);
        while service_ms * f64::from(k) <= ms {
            let x = rate_per_s * (ms - service_ms * f64::from(k)) / 1e3;
            let term = (1..=k).fold(1.0, |term, n| term * -x / f64::from(n));
            sum += term * x.exp();
            k += 1;
        }
        (1.0 - load) * sum
    };
    // The terms of the sum grow and cancel. Up to 30 service times, they leave digits enough.
    let (mut low, mut high) = (0.0, 30.0 * service_ms);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if share(middle) < quantile { low = middle } else { high = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    #[test]
    fn a_simulated_queue_waits_as_long() {
        let (rate, service) = (12.0, 25.0);
        let mut random = SplitMix64(7);
        let (mut now, mut free) = (0.0, 0.0_f64);
        let mut waits: Vec<f64> = (0..1_000_000)
            .map(|_| {
                now += 1e3 / rate * random.exponential();
                let wait = (free - now).max(0.0);
                free = free.max(now) + service;
                wait
            })
            .collect();
        waits.sort_unstable_by(f64::total_cmp);
        for quantile in [0.9, 0.99, 0.999] {
            let simulated = waits[(1e6 * quantile) as usize];
            let found = md1_wait_ms(rate, service, quantile).unwrap();
            assert!((found / simulated - 1.0).abs() < 0.02, "{quantile}: {found}, {simulated}");
        }
        assert!(md1_wait_ms(rate, service, 0.5).unwrap() < 1e-6, "most find the server idle");
        assert_eq!(md1_wait_ms(50.0, 25.0, 0.9), None, "more than it can serve");
    }
}
