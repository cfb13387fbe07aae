//! A logarithmic scale: equal factors are equal lengths, with round numbers at the ticks.

/// Positive values between a lowest and a highest one, mapped to coordinates.
#[derive(Clone, Copy, Debug)]
pub struct LogScale {
    pub low: f64,
    pub high: f64,
    /// The coordinate of the lowest value.
    pub start: f64,
    /// The coordinate of the highest value; less than `start` for an axis that points upwards.
    pub end: f64,
}

/// The minimum factor between the ends of a scale, so that small differences look small.
const LEAST_FACTOR: f64 = 3.0;
/// The free space beyond the outermost values, as a share of the scale.
const FREE: f64 = 0.04;
/// Which multiples of a power of ten are ticks, the coarsest choice first.
const CHOICES: [&[f64]; 4] =
    [&[1.0], &[1.0, 3.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]];

impl LogScale {
    /// A scale that covers these values with some free space. Ignores values that are not positive.
    pub fn covering(values: impl IntoIterator<Item = f64>, start: f64, end: f64) -> Self {
        let logarithms = values.into_iter().filter(|it| it.is_finite() && *it > 0.0).map(f64::ln);
        let ends = logarithms.fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = ends.unwrap_or((0.0, 0.0));
        let missing = (LEAST_FACTOR.ln() - (high - low)).max(0.0) / 2.0;
        let free = missing + (high - low) * FREE;
        Self { low: (low - free).exp(), high: (high + free).exp(), start, end }
    }

    /// The coordinate of a value; the nearer end for a value outside the scale.
    pub fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.start + share * (self.end - self.start)
    }

    /// At least three round values if possible, and few more.
    pub fn ticks(&self) -> Vec<f64> {
        let choices = CHOICES.map(|multiples| self.multiples(multiples));
        let [.., finest] = &choices;
        choices.iter().find(|ticks| ticks.len() >= 3).unwrap_or(finest).clone()
    }

    /// These multiples of all powers of ten on the scale.
    fn multiples(&self, multiples: &[f64]) -> Vec<f64> {
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let all = powers.flat_map(|power| multiples.iter().map(move |it| times_ten_to(*it, power)));
        all.filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }
}

/// Divides for negative powers, because only positive powers of ten are exact.
fn times_ten_to(value: f64, power: i32) -> f64 {
    match power {
        0.. => value * 10_f64.powi(power),
        _ => value / 10_f64.powi(-power),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: [f64; 2]) -> Vec<f64> {
        LogScale::covering(values, 0.0, 100.0).ticks()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks([1.0, 280.0]), [1.0, 10.0, 100.0]);
        assert_eq!(ticks([4.0, 110.0]), [10.0, 30.0, 100.0]);
        assert_eq!(ticks([0.02, 0.05]), [0.02, 0.03, 0.05]);
    }

    #[test]
    fn equal_factors_are_equal_lengths() {
        let scale = LogScale { low: 1.0, high: 10_000.0, start: 100.0, end: 500.0 };
        assert_eq!([1.0, 10.0, 100.0].map(|value| scale.at(value)), [100.0, 200.0, 300.0]);
        assert_eq!([0.1, 1e6].map(|value| scale.at(value)), [100.0, 500.0]);
    }
}
