//! The median, which one stalled run cannot move far.

/// The median of values in any order; for an even number of values, the mean of the middle two.
/// `None` without values.
pub fn median_of(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let (lower, upper) = middle(&values)?;
    // Avoids rounding for two equal values.
    Some(if lower == upper { lower } else { (lower + upper) / 2.0 })
}

/// The middle two of sorted values; for an odd number of values, the middle one twice.
pub(super) fn middle(sorted: &[f64]) -> Option<(f64, f64)> {
    let last = sorted.len().checked_sub(1)?;
    Some((sorted[last / 2], sorted[last.div_ceil(2)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_in_the_middle() {
        assert_eq!(median_of([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median_of([4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median_of([7.0]), Some(7.0));
        assert_eq!(median_of([]), None);
    }
}
