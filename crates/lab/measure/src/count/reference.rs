//! Compares counts with a reference file, such as a case's `counts.toml`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use lab_report::thousands;

pub type ReferenceTable = BTreeMap<String, BTreeMap<String, u64>>;

/// By how many per cent a count may move, unless its case says otherwise. Whatever does not repeat
/// exactly stays within this, and no relevant change does.
pub const TOLERANCE_PERCENT: f64 = 1.0;

/// The differences, a line each: counts that moved, and counts that only one side has.
pub fn compare(
    then: &ReferenceTable,
    now: &ReferenceTable,
    tolerance: impl Fn(&str) -> f64,
) -> Vec<String> {
    let sections = then.iter().chain(now);
    let all: BTreeSet<_> = sections
        .flat_map(|(section, counts)| counts.keys().map(move |name| (section, name)))
        .collect();
    let differs = all.into_iter().filter_map(|(section, name)| {
        let count = |table: &ReferenceTable| table.get(section)?.get(name).copied();
        let how = match (count(then), count(now)) {
            (Some(then), Some(now)) => moved(then, now, tolerance(name))?,
            (None, _) => "is not in the reference".to_owned(),
            (_, None) => "is no longer counted".to_owned(),
        };
        Some(format!("{section}: {name} {how}"))
    });
    differs.collect()
}

/// How a count moved, if it did: `rose from 3,000 to 3,100 (+3.3 %)`.
fn moved(then: u64, now: u64, tolerance_percent: f64) -> Option<String> {
    if 100.0 * now.abs_diff(then) as f64 <= tolerance_percent * then as f64 {
        return None;
    }
    let verb = if now > then { "rose" } else { "fell" };
    let share = match then {
        0 => String::new(),
        then => format!(" ({:+.1} %)", 100.0 * (now as f64 / then as f64 - 1.0)),
    };
    let [then, now] = [then, now].map(|count| thousands(count as f64));
    Some(format!("{verb} from {then} to {now}{share}"))
}

/// A reference file: `head`, then the sections in this order.
pub fn text<'a>(
    head: &str,
    table: &ReferenceTable,
    sections: impl IntoIterator<Item = &'a String>,
) -> String {
    let mut text = head.to_owned();
    for section in sections {
        let Some(counts) = table.get(section) else { continue };
        let _ = write!(text, "\n[{section}]\n");
        for (name, count) in counts {
            let _ = writeln!(text, "{name} = {count}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_cases::Reference;

    fn table(slow: u64, fixed: u64) -> ReferenceTable {
        let counts = |allocations| {
            let counts = [("allocations", allocations), ("upstream.connections", 19)];
            counts.map(|(name, count)| (name.to_owned(), count)).into()
        };
        [("slow".to_owned(), counts(slow)), ("fixed".to_owned(), counts(fixed))].into()
    }

    #[test]
    fn a_reference_survives_its_file_in_the_order_given() {
        let text = text("# head\n", &table(300, 30), ["slow", "fixed"].map(str::to_owned).iter());
        assert_eq!(
            text,
            "# head\n\n[slow]\nallocations = 300\nupstream.connections = 19\n\
             \n[fixed]\nallocations = 30\nupstream.connections = 19\n"
        );
        assert_eq!(text.parse::<Reference>().unwrap().0, table(300, 30));
    }

    #[test]
    fn a_count_that_moves_beyond_its_tolerance_is_reported() {
        let percent = |percent| move |_: &str| percent;
        let reference = table(300, 0);
        assert!(compare(&reference, &table(302, 0), percent(1.0)).is_empty());
        assert!(compare(&reference, &table(330, 0), percent(10.0)).is_empty());
        assert_eq!(
            compare(&reference, &table(330, 1), percent(1.0)),
            [
                "fixed: allocations rose from 0 to 1",
                "slow: allocations rose from 300 to 330 (+10.0 %)",
            ]
        );
        let fewer = compare(&reference, &table(270, 0), percent(1.0));
        assert_eq!(fewer, ["slow: allocations fell from 300 to 270 (-10.0 %)"]);
    }

    #[test]
    fn counts_that_only_one_side_has_are_reported() {
        let both = table(1, 1);
        let mut one = both.clone();
        one.remove("fixed");
        let lines = compare(&both, &one, |_| 1.0);
        assert_eq!(lines[0], "fixed: allocations is no longer counted");
        let lines = compare(&one, &both, |_| 1.0);
        assert_eq!(lines[1], "fixed: upstream.connections is not in the reference");
    }
}
