//! The functions that cost most, as data: the same as a flame graph shows, for a table of text.

use std::collections::{BTreeMap, BTreeSet};

use super::{Folded, view::KERNEL};

/// A function, whoever called it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// What was spent in it alone.
    pub own: u64,
    /// What was spent in it and in all that it called. Counted once where it calls itself.
    pub inclusive: u64,
}

/// A function in both variants.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowPair {
    /// Its name.
    pub name: String,
    /// What was spent in it alone with the fault.
    pub slow_own: u64,
    /// And with the fix.
    pub fixed_own: u64,
    /// What was spent in it and in all that it called with the fault.
    pub slow_inclusive: u64,
    /// And with the fix.
    pub fixed_inclusive: u64,
}

/// The `n` functions in which most was spent, the one with most first.
pub fn top(folded: &Folded, n: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = by_name(folded).into_values().collect();
    rows.sort_by(|a, b| (b.own, b.inclusive, &a.name).cmp(&(a.own, a.inclusive, &b.name)));
    rows.truncate(n);
    rows
}

/// The `n` functions that cost most with what they call, the one with most first.
pub fn top_inclusive(folded: &Folded, n: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = by_name(folded).into_values().collect();
    rows.sort_by(|a, b| (b.inclusive, b.own, &a.name).cmp(&(a.inclusive, a.own, &b.name)));
    rows.truncate(n);
    rows
}

/// The `n` functions whose own share changed most between the variants, either way.
pub fn changed(slow: &Folded, fixed: &Folded, n: usize) -> Vec<RowPair> {
    let (mut slow, mut fixed) = (by_name(slow), by_name(fixed));
    let names: BTreeSet<String> = slow.keys().chain(fixed.keys()).cloned().collect();
    let pair = |name: String| {
        let (slow, fixed) = (slow.remove(&name), fixed.remove(&name));
        let own = |row: &Option<Row>| row.as_ref().map_or(0, |row| row.own);
        let inclusive = |row: &Option<Row>| row.as_ref().map_or(0, |row| row.inclusive);
        RowPair {
            slow_own: own(&slow),
            fixed_own: own(&fixed),
            slow_inclusive: inclusive(&slow),
            fixed_inclusive: inclusive(&fixed),
            name,
        }
    };
    let mut pairs: Vec<RowPair> = names.into_iter().map(pair).collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.slow_own.abs_diff(pair.fixed_own)));
    pairs.truncate(n);
    pairs
}

fn by_name(folded: &Folded) -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    for (stack, spent) in folded.iter() {
        // What the kernel did is worth telling only with what it was asked for.
        let asked = |at: usize| at.checked_sub(1).and_then(|at| stack.get(at));
        let told = |(at, frame): (usize, &String)| match asked(at) {
            Some(by) if frame == KERNEL => format!("{KERNEL}, for {by}"),
            _ => frame.clone(),
        };
        let stack: Vec<String> = stack.iter().enumerate().map(told).collect();
        for frame in stack.iter().collect::<BTreeSet<_>>() {
            let new = || Row { name: frame.clone(), own: 0, inclusive: 0 };
            let row: &mut Row = rows.entry(frame.clone()).or_insert_with(new);
            row.inclusive += spent;
            row.own += if stack.last() == Some(frame) { spent } else { 0 };
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Folded {
        text.parse().unwrap()
    }

    #[test]
    fn recursion_counts_once() {
        let rows = top(&folded("walk;check;walk 3\nwalk 1\n"), 5);
        let walk = Row { name: "walk".to_owned(), own: 4, inclusive: 4 };
        let check = Row { name: "check".to_owned(), own: 0, inclusive: 3 };
        assert_eq!(rows, [walk, check]);
    }

    #[test]
    fn the_kernel_is_told_with_what_it_was_asked_for() {
        let rows = top(&folded("load;open;kernel 3\nload;read;kernel 1\n"), 2);
        let names: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.own)).collect();
        assert_eq!(names, [("kernel, for open", 3), ("kernel, for read", 1)]);
    }

    #[test]
    fn the_order_is_by_own_cost_or_by_all_of_it() {
        let stacks = folded("a;b 3\na;c 5\na 1\n");
        let names = |rows: Vec<Row>| rows.into_iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names(top(&stacks, 2)), ["c", "b"]);
        assert_eq!(names(top_inclusive(&stacks, 2)), ["a", "c"]);
    }

    #[test]
    fn what_changed_most_comes_first_even_if_only_one_variant_has_it() {
        let pairs = changed(&folded("a 10\nb 5\n"), &folded("a 9\nc 7\n"), 2);
        let told: Vec<_> =
            pairs.iter().map(|p| (p.name.as_str(), p.slow_own, p.fixed_own)).collect();
        assert_eq!(told, [("c", 0, 7), ("b", 5, 0)]);
    }
}
