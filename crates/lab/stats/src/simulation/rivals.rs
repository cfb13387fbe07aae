//! Four tests for a difference, each at a nominal 5 %.

use super::session::Session;

/// A test and its name.
pub type Rival = (&'static str, fn(&Session) -> bool);

/// The test that the laboratory uses, and three alternatives: Student's test of the pairs, Welch's test
/// of the runs, and Mann and Whitney's of the runs.
pub const RIVALS: [Rival; 4] =
    [("signed", signed_rank), ("paired", paired_t), ("Welch", welch), ("Mann-W", mann_whitney)];

fn signed_rank(session: &Session) -> bool {
    let speedup = session.speedup();
    speedup.low > 1.0 || speedup.high < 1.0
}

fn paired_t(session: &Session) -> bool {
    let ratios: Vec<_> = session.log_ratios().collect();
    let (mean, variance) = mean_and_variance(&ratios);
    let n = ratios.len() as f64;
    mean.abs() > critical_t(n - 1.0) * (variance / n).sqrt()
}

fn welch(session: &Session) -> bool {
    let (a, var_a) = mean_and_variance(&session.baseline);
    let (b, var_b) = mean_and_variance(&session.candidate);
    let n = session.baseline.len() as f64;
    let freedom = (n - 1.0) * (var_a + var_b).powi(2) / (var_a.powi(2) + var_b.powi(2));
    (b - a).abs() > critical_t(freedom) * ((var_a + var_b) / n).sqrt()
}

fn mann_whitney(session: &Session) -> bool {
    let Session { baseline, candidate, .. } = session;
    let above = candidate.iter().flat_map(|b| baseline.iter().filter(move |a| b > a)).count();
    let n = baseline.len();
    // The printed 5 % points of U for two samples of `n`.
    let critical = match n {
        6 => 5,
        10 => 23,
        15 => 64,
        _ => unreachable!("no critical value for {n}"),
    };
    above.min(n * n - above) <= critical
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// The two-sided 5 % point of Student's t: Cornish and Fisher's expansion about the normal one
/// (Abramowitz and Stegun, 26.7.5), correct to within 0.004 from 5 degrees of freedom on.
fn critical_t(freedom: f64) -> f64 {
    let z: f64 = 1.959_963_984_540_054;
    let terms = [
        z,
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| sum / freedom + term)
}

#[test]
fn the_critical_values_of_t_are_the_printed_ones() {
    for (freedom, printed) in [(5.0, 2.571), (9.0, 2.262), (14.0, 2.145)] {
        assert!((critical_t(freedom) - printed).abs() < 4e-3);
    }
}
