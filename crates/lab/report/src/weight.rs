//! Weights in the words of a reader.

use lab_observation::Unit;

use crate::significant;

/// `41.2 ms per request`.
pub fn per_request(unit: Unit, weight: u64) -> String {
    format!("{} per request", self::weight(unit, weight))
}

/// The weight with three digits: `41.2 ms`.
pub fn weight(unit: Unit, weight: u64) -> String {
    let steps: &[&str] = match unit {
        Unit::Nanoseconds => &["ns", "µs", "ms", "s"],
        Unit::Bytes => &["bytes", "kB", "MB", "GB"],
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

#[cfg(test)]
mod tests {
    use super::{Unit::*, *};

    #[test]
    fn weights_have_three_digits() {
        assert_eq!(per_request(Nanoseconds, 41_234_567), "41.2 ms per request");
        assert_eq!(weight(Nanoseconds, 999_600), "1.00 ms");
        assert_eq!(weight(Nanoseconds, 850), "850 ns");
        assert_eq!(weight(Bytes, 24_000_000), "24.0 MB");
        assert_eq!(weight(Bytes, 1_234), "1.23 kB");
    }
}
