//! The Universal Scalability Law, fitted to throughputs at several numbers of users.
//!
//! `X(N) = λN / (1 + σ(N − 1) + κN(N − 1))` (Gunther, *Guerrilla Capacity Planning*, 2007): `λ` is the
//! throughput of one user, `σ` the share of the work that is done one at a time, and `κ` the cost of
//! keeping all users consistent, which makes throughput fall in the end.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Usl {
    /// Answers per second of one user alone.
    pub lambda: f64,
    /// Contention: 0 scales without limit, 1 does not scale at all.
    pub sigma: f64,
    /// Coherency: 0 never falls.
    pub kappa: f64,
    /// The root mean square of the relative residuals: 0.02 is 2 %.
    pub error: f64,
}

impl Usl {
    /// Fits the law to pairs of users and throughput; `None` for fewer than four positive points.
    ///
    /// `N / X` is linear in `1/λ`, `σ/λ` and `κ/λ`, so this is a linear least-squares problem. Each
    /// point has the weight that makes residuals relative. No parameter may be negative: those that
    /// would be are zero, and the best of these fits is taken.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let points: Vec<_> = points.iter().copied().filter(|(n, x)| *n > 0.0 && *x > 0.0).collect();
        if points.len() < 4 {
            return None;
        }
        let subsets: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[0, 2], &[0]];
        let fits = subsets.into_iter().filter_map(|columns| fit(&points, columns));
        fits.min_by(|one, other| one.error.total_cmp(&other.error))
    }

    pub fn at(&self, users: f64) -> f64 {
        let Self { lambda, sigma, kappa, .. } = self;
        lambda * users / (1.0 + sigma * (users - 1.0) + kappa * users * (users - 1.0))
    }
}

/// The terms of `N / X` in the three parameters.
fn terms(users: f64) -> [f64; 3] {
    [1.0, users - 1.0, users * (users - 1.0)]
}

/// The fit with only these parameters; `None` if one would be negative.
fn fit(points: &[(f64, f64)], columns: &[usize]) -> Option<Usl> {
    let size = columns.len();
    let mut equations = vec![vec![0.0; size + 1]; size];
    for (users, throughput) in points {
        let weight = throughput / users;
        let terms = terms(*users).map(|term| term * weight);
        for (row, one) in columns.iter().enumerate() {
            for (column, other) in columns.iter().enumerate() {
                equations[row][column] += terms[*one] * terms[*other];
            }
            equations[row][size] += terms[*one];
        }
    }
    let solution = solve(equations)?;
    let mut found = [0.0; 3];
    columns.iter().zip(&solution).for_each(|(column, value)| found[*column] = *value);
    if found[0] <= 0.0 || found.iter().any(|value| *value < 0.0) {
        return None;
    }
    let [lambda, sigma, kappa] = [1.0 / found[0], found[1] / found[0], found[2] / found[0]];
    let mut usl = Usl { lambda, sigma, kappa, error: 0.0 };
    let residuals =
        points.iter().map(|(users, throughput)| (usl.at(*users) / throughput - 1.0).powi(2));
    usl.error = (residuals.sum::<f64>() / points.len() as f64).sqrt();
    Some(usl)
}

/// Gaussian elimination with pivots; each row ends with its right-hand side.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for at in 0..size {
        let pivot = (at..size)
            .max_by(|one, other| rows[*one][at].abs().total_cmp(&rows[*other][at].abs()))?;
        rows.swap(at, pivot);
        if rows[at][at].abs() < 1e-12 {
            return None;
        }
        let row = rows[at].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(index, _)| *index != at) {
            let factor = other[at] / row[at];
            other.iter_mut().zip(&row).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    Some((0..size).map(|at| rows[at][size] / rows[at][at]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(x: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|n| (n, x(n))).to_vec()
    }

    #[test]
    fn the_parameters_of_a_curve_are_found_again() {
        let law = Usl { lambda: 970.0, sigma: 0.05, kappa: 0.002, error: 0.0 };
        let found = Usl::fit(&points(|n| law.at(n))).unwrap();
        assert!((found.lambda - 970.0).abs() < 1e-6 && (found.sigma - 0.05).abs() < 1e-9);
        assert!((found.kappa - 0.002).abs() < 1e-9 && found.error < 1e-9, "{found:?}");
    }

    #[test]
    fn a_lock_and_a_wait_are_the_two_ends_of_contention() {
        let serial = Usl::fit(&points(|_| 19.5)).unwrap();
        assert!((serial.sigma - 1.0).abs() < 1e-9 && serial.kappa < 1e-9, "{serial:?}");
        let parallel = Usl::fit(&points(|n| 19.5 * n)).unwrap();
        assert!(parallel.sigma < 1e-9 && parallel.kappa < 1e-9, "{parallel:?}");
    }

    #[test]
    fn no_parameter_is_negative_and_the_error_says_how_well_it_fits() {
        // Faster than linear, as with a cache that many users fill.
        let found = Usl::fit(&points(|n| 10.0 * n.powf(1.1))).unwrap();
        assert!(found.sigma >= 0.0 && found.kappa >= 0.0 && found.error > 0.1, "{found:?}");
        assert_eq!(Usl::fit(&[(1.0, 5.0), (2.0, 5.0), (4.0, 0.0), (8.0, 5.0)]), None);
    }
}
