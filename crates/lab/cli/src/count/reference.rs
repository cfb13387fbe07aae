//! The counts that a case is held to: `counts.toml` beside its `case.toml`.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use super::Counts;
use lab_case::{Case, Reference};
use lab_display::thousands;
use lab_record::write_whole;

/// By how many per cent a count may move, unless its case says otherwise: within this lies whatever
/// does not repeat exactly, and no change that is worth a thought.
pub(super) const TOLERANCE_PERCENT: f64 = 1.0;

/// What stands at the top of the file.
const HEAD: &str = "\
# What one page costs each variant, counted by `lab count`: allocations of the server process, the
# bytes that they ask for, and what the companions count. `just test` fails when one of them moves by
# more than 1 %, or than its case allows. Where that is meant, `just update-counts` writes this file; docs/src/counts.md says more.
";

/// What differs, a line each: counts that moved, and those that only one side has.
pub fn compare(
    reference: &Reference,
    case: &Case,
    counted: &BTreeMap<String, Counts>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (variant, counts) in counted {
        let name = format!("{}-{variant}", case.name);
        let Some(then) = reference.variant(variant) else {
            lines.push(format!("{name}: has no counts in the reference"));
            continue;
        };
        let counts: BTreeMap<_, _> = counts.exact().into_iter().collect();
        for (count, now) in &counts {
            let tolerance = case.count.tolerance_percent.get(count);
            let tolerance = tolerance.copied().unwrap_or(TOLERANCE_PERCENT);
            match then.get(count) {
                None => lines.push(format!("{name}: {count} is not in the reference")),
                Some(then) => lines.extend(
                    moved(*then, *now, tolerance, "page")
                        .map(|how| format!("{name}: {count} {how}")),
                ),
            }
        }
        let gone = then.keys().filter(|count| !counts.contains_key(*count));
        lines.extend(gone.map(|count| format!("{name}: {count} is no longer counted")));
    }
    let gone = reference.variants().filter(|variant| !counted.contains_key(*variant));
    lines.extend(gone.map(|variant| format!("{}-{variant}: no such variant any more", case.name)));
    lines
}

/// How a count moved, if it did: `rose from 3,000 to 3,100 a page (+3.3 %)`.
pub(super) fn moved(then: u64, now: u64, tolerance_percent: f64, each: &str) -> Option<String> {
    if 100.0 * now.abs_diff(then) as f64 <= tolerance_percent * then as f64 {
        return None;
    }
    let verb = if now > then { "rose" } else { "fell" };
    let share = match then {
        0 => String::new(),
        then => format!(" ({:+.1} %)", 100.0 * (now as f64 / then as f64 - 1.0)),
    };
    let [then, now] = [then, now].map(|count| thousands(count as f64));
    Some(format!("{verb} from {then} to {now} a {each}{share}"))
}

/// Writes the counts of all variants as the new reference.
pub fn write(path: &Path, case: &Case, counted: &BTreeMap<String, Counts>) -> anyhow::Result<()> {
    write_whole(path, &text(case, counted))
}

fn text(case: &Case, counted: &BTreeMap<String, Counts>) -> String {
    let mut text = HEAD.to_owned();
    for variant in &case.variants {
        let Some(counts) = counted.get(variant) else { continue };
        let _ = write!(text, "\n[{variant}]\n");
        for (name, count) in counts.exact() {
            let _ = writeln!(text, "{name} = {count}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Case {
        toml::from_str(
            r#"title = "t"
            question = "q"
            variants = ["slow", "fixed"]
            load = { users = 1 }
            request = []"#,
        )
        .map(|case| Case { name: "toy".to_owned(), ..case })
        .unwrap()
    }

    fn counts(allocations: u64) -> Counts {
        let upstream = [("connections".to_owned(), 19)].into();
        Counts {
            pages: 4,
            requests: 1,
            allocations,
            bytes: 3000,
            system_calls: Some(9.0),
            companions: [("upstream".to_owned(), upstream)].into(),
        }
    }

    fn counted(slow: u64, fixed: u64) -> BTreeMap<String, Counts> {
        [("slow".to_owned(), counts(slow)), ("fixed".to_owned(), counts(fixed))].into()
    }

    #[test]
    fn what_is_written_is_read_again_in_the_order_of_the_lesson() {
        let text = text(&case(), &counted(300, 30));
        assert!(text.ends_with(
            "\n[slow]\nallocations = 300\nbytes = 3000\nupstream.connections = 19\n\
             \n[fixed]\nallocations = 30\nbytes = 3000\nupstream.connections = 19\n"
        ));
        let reference = text.parse::<Reference>().unwrap();
        assert!(compare(&reference, &case(), &counted(300, 30)).is_empty());
    }

    #[test]
    fn a_count_that_moves_is_named_with_its_way() {
        let reference = text(&case(), &counted(300, 0)).parse::<Reference>().unwrap();
        assert!(compare(&reference, &case(), &counted(302, 0)).is_empty(), "less than 1 %");
        assert_eq!(
            compare(&reference, &case(), &counted(330, 1)),
            [
                "toy-fixed: allocations rose from 0 to 1 a page",
                "toy-slow: allocations rose from 300 to 330 a page (+10.0 %)",
            ]
        );
        let fewer = compare(&reference, &case(), &counted(270, 0));
        assert_eq!(fewer, ["toy-slow: allocations fell from 300 to 270 a page (-10.0 %)"]);
    }

    #[test]
    fn a_case_may_allow_a_count_more() {
        let reference = text(&case(), &counted(300, 30)).parse::<Reference>().unwrap();
        let mut case = case();
        case.count.tolerance_percent = [("allocations".to_owned(), 10.0)].into();
        assert!(compare(&reference, &case, &counted(330, 30)).is_empty());
        assert_eq!(compare(&reference, &case, &counted(331, 30)).len(), 1);
    }

    #[test]
    fn what_only_one_side_has_is_named() {
        let both = counted(1, 1);
        let mut one = both.clone();
        one.remove("fixed");
        let all = text(&case(), &both).parse::<Reference>().unwrap();
        assert_eq!(compare(&all, &case(), &one), ["toy-fixed: no such variant any more"]);
        let half = text(&case(), &one).parse::<Reference>().unwrap();
        assert_eq!(compare(&half, &case(), &both), ["toy-fixed: has no counts in the reference"]);
        let text = text(&case(), &both).replace("upstream.connections", "upstream.doors");
        let other = compare(&text.parse().unwrap(), &case(), &both);
        assert_eq!(other.len(), 4, "{other:?}");
        assert_eq!(other[0], "toy-fixed: upstream.connections is not in the reference");
        assert_eq!(other[1], "toy-fixed: upstream.doors is no longer counted");
    }
}
