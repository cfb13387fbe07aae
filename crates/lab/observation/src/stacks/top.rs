//! The functions that cost most: the content of a flame graph for a table.

use std::collections::{BTreeMap, BTreeSet};

use super::{Folded, KERNEL};

/// A function, with all its callers taken together.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    pub name: String,
    /// The weight of the function alone.
    pub own: u64,
    /// The weight of the function with everything it called; recursion counts once.
    pub inclusive: u64,
}

/// The `n` functions with the largest own weight, largest first.
pub fn top(folded: &Folded, n: usize) -> Vec<Row> {
    largest(folded, n, |row| (row.own, row.inclusive))
}

/// The `n` functions with the largest inclusive weight, largest first.
pub fn top_inclusive(folded: &Folded, n: usize) -> Vec<Row> {
    largest(folded, n, |row| (row.inclusive, row.own))
}

fn largest(folded: &Folded, n: usize, by: impl Fn(&Row) -> (u64, u64)) -> Vec<Row> {
    let mut rows: Vec<Row> = by_name(folded).into_values().collect();
    // The sort is stable: equal rows stay in the order of their names.
    rows.sort_by_key(|row| std::cmp::Reverse(by(row)));
    rows.truncate(n);
    rows
}

/// The `n` functions whose own weight changed most between the variants, in either direction.
pub fn changed(slow: &Folded, fixed: &Folded, n: usize) -> Vec<[Row; 2]> {
    let variants = [by_name(slow), by_name(fixed)];
    let names: BTreeSet<&String> = variants.iter().flat_map(BTreeMap::keys).collect();
    let row = |rows: &BTreeMap<String, Row>, name: &String| {
        rows.get(name).cloned().unwrap_or(Row { name: name.clone(), own: 0, inclusive: 0 })
    };
    let pairs = names.into_iter().map(|name| variants.each_ref().map(|rows| row(rows, name)));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by_key(|[slow, fixed]| std::cmp::Reverse(slow.own.abs_diff(fixed.own)));
    pairs.truncate(n);
    pairs
}

fn by_name(folded: &Folded) -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    for (stack, weight) in folded.iter() {
        // The kernel's work means little without the function that asked for it.
        let caller = |at: usize| at.checked_sub(1).and_then(|at| stack.get(at));
        let label = |(at, frame): (usize, &String)| match caller(at) {
            Some(caller) if frame == KERNEL => format!("{KERNEL}, for {caller}"),
            _ => frame.clone(),
        };
        let stack: Vec<String> = stack.iter().enumerate().map(label).collect();
        for frame in stack.iter().collect::<BTreeSet<_>>() {
            let new = || Row { name: frame.clone(), own: 0, inclusive: 0 };
            let row: &mut Row = rows.entry(frame.clone()).or_insert_with(new);
            row.inclusive += weight;
            row.own += if stack.last() == Some(frame) { weight } else { 0 };
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
    fn kernel_work_is_listed_by_caller() {
        let rows = top(&folded("load;open;kernel 3\nload;read;kernel 1\n"), 2);
        let names: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.own)).collect();
        assert_eq!(names, [("kernel, for open", 3), ("kernel, for read", 1)]);
    }

    #[test]
    fn rows_are_sorted_by_own_or_by_inclusive_weight() {
        let stacks = folded("a;b 3\na;c 5\na 1\n");
        let names = |rows: Vec<Row>| rows.into_iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names(top(&stacks, 2)), ["c", "b"]);
        assert_eq!(names(top_inclusive(&stacks, 2)), ["a", "c"]);
    }

    #[test]
    fn the_largest_change_comes_first_even_if_only_one_variant_has_the_function() {
        let pairs = changed(&folded("a 10\nb 5\n"), &folded("a 9\nc 7\n"), 2);
        let pairs: Vec<_> =
            pairs.iter().map(|[slow, fixed]| (slow.name.as_str(), slow.own, fixed.own)).collect();
        assert_eq!(pairs, [("c", 0, 7), ("b", 5, 0)]);
    }
}
