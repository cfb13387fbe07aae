//! What a width stands for, in the words of a reader.

/// The unit of the weights in a flame graph.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    /// Nanoseconds per request.
    Nanoseconds,
    /// Bytes per request.
    Bytes,
    /// Samples, of all requests together.
    Samples,
}

impl Unit {
    /// The weight in three digits, and what it is per: `41.2 ms per request`.
    pub fn tell(self, weight: u64) -> String {
        match self {
            Self::Nanoseconds | Self::Bytes => format!("{} per request", self.short(weight)),
            Self::Samples => self.short(weight),
        }
    }

    /// The weight in three digits: `41.2 ms`.
    pub fn short(self, weight: u64) -> String {
        let steps: &[&str] = match self {
            Self::Nanoseconds => &["ns", "µs", "ms", "s"],
            Self::Bytes => &["bytes", "kB", "MB", "GB"],
            Self::Samples => return format!("{weight} samples"),
        };
        let (mut value, mut step) = (weight as f64, 0);
        // What would be shown as 1000 is shown as 1 of the next step.
        while value >= 999.5 && step + 1 < steps.len() {
            value /= 1000.0;
            step += 1;
        }
        let decimals = match value {
            _ if step == 0 => 0,
            ..9.995 => 2,
            ..99.95 => 1,
            _ => 0,
        };
        format!("{value:.decimals$} {}", steps[step])
    }
}

#[cfg(test)]
mod tests {
    use super::Unit::*;

    #[test]
    fn weights_are_told_in_three_digits() {
        assert_eq!(Nanoseconds.tell(41_234_567), "41.2 ms per request");
        assert_eq!(Nanoseconds.short(999_600), "1.00 ms");
        assert_eq!(Nanoseconds.short(850), "850 ns");
        assert_eq!(Bytes.tell(24_000_000), "24.0 MB per request");
        assert_eq!(Bytes.short(1_234), "1.23 kB");
        assert_eq!(Samples.tell(12), "12 samples");
    }
}
