//! Weights in the words of a reader.

use lab_display::significant;

/// What the weights in a flame graph count, for one request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    Nanoseconds,
    Bytes,
}

impl Unit {
    /// `41.2 ms per request`.
    pub fn per_request(self, weight: u64) -> String {
        format!("{} per request", self.short(weight))
    }

    /// The weight with three digits: `41.2 ms`.
    pub fn short(self, weight: u64) -> String {
        let steps: &[&str] = match self {
            Self::Nanoseconds => &["ns", "µs", "ms", "s"],
            Self::Bytes => &["bytes", "kB", "MB", "GB"],
        };
        let (mut value, mut step) = (weight as f64, 0);
        // 999.5 would round to 1000.
        while value >= 999.5 && step + 1 < steps.len() {
            value /= 1000.0;
            step += 1;
        }
        let digits = if step == 0 { weight.to_string() } else { significant(value) };
        format!("{digits} {}", steps[step])
    }
}

#[cfg(test)]
mod tests {
    use super::Unit::*;

    #[test]
    fn weights_have_three_digits() {
        assert_eq!(Nanoseconds.per_request(41_234_567), "41.2 ms per request");
        assert_eq!(Nanoseconds.short(999_600), "1.00 ms");
        assert_eq!(Nanoseconds.short(850), "850 ns");
        assert_eq!(Bytes.short(24_000_000), "24.0 MB");
        assert_eq!(Bytes.short(1_234), "1.23 kB");
    }
}
