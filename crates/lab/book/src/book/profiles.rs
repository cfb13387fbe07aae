//! What the charts of profiles draw: the points next to the curve of Amdahl's law.

use anyhow::{Context as _, ensure};
use lab_cases::{Case, FIXED, SLOW, unknown};
use lab_pictures::chart::LawPoint;
use lab_protocol::{Exhibit, Metric};

use super::sources::Sources;

/// The points of all cases from the first to this one, in the order of the course. A later one would give a factor away.
pub(super) fn law_points(sources: &Sources, last: &str) -> anyhow::Result<Vec<LawPoint>> {
    let mut cases = Vec::new();
    for case in sources.cases.iter().filter(|case| !case.removes.is_empty()) {
        cases.push((number(sources, case)?, case));
    }
    cases.sort_by_key(|(number, _)| *number);
    let Some(end) = cases.iter().position(|(_, case)| case.name == last) else {
        let names = cases.iter().map(|(_, case)| case.name.as_str());
        return Err(unknown("case with [removes]", last, names));
    };
    let mut points = Vec::new();
    for (number, case) in &cases[..=end] {
        for variant in case.variants.iter().filter(|it| case.removes.contains_key(*it)) {
            points.push(point(sources, *number, case, variant)?);
        }
    }
    Ok(points)
}

/// The number of a case in the course: `2`, if its chapter begins with `# Case 2:`.
fn number(sources: &Sources, case: &Case) -> anyhow::Result<u32> {
    let page = case.page();
    let text = std::fs::read_to_string(sources.root.join(&page));
    let text = text.with_context(|| format!("cannot read {page}"))?;
    let number = text.strip_prefix("# Case ").and_then(|rest| rest.split_once(':'));
    let number = number.and_then(|(number, _)| number.parse().ok());
    number.with_context(|| format!("{page} does not begin with `# Case N:`"))
}

/// The share that the removed boxes of `slow` have, and the factor that the variant has over `slow`.
fn point(sources: &Sources, number: u32, case: &Case, variant: &str) -> anyhow::Result<LawPoint> {
    let of = case.flame.iter().find(|it| [Exhibit::Cpu, Exhibit::Waits].contains(it));
    let kind = if of == Some(&Exhibit::Waits) { "waits" } else { "cpu" };
    let mut share = 0.0;
    for name in &case.removes[variant] {
        let [own, all] = sources.function([&case.name, SLOW], name, kind)?;
        share += own / all;
    }
    ensure!(share < 1.0, "{}: a box in [removes] contains another one", case.name);
    let (factor, interval) = match kind {
        // Of a request that waits, the time is in the same picture.
        "waits" => {
            let total = |variant| anyhow::Ok(sources.stacks(&case.name, variant, kind)?.total());
            (total(SLOW)? as f64 / total(variant)? as f64, None)
        }
        _ => {
            let record = sources.record()?.cases.iter().find(|it| it.case == case.name);
            let speedups = record.and_then(|it| it.variant(variant)?.speedup);
            let found = speedups.and_then(|it| it.of(Metric::Cpu).copied());
            let found = found.with_context(|| {
                format!("the record has no factor of CPU time for {} {variant}", case.name)
            })?;
            (found.estimate, Some([found.low, found.high]))
        }
    };
    let step = if variant == FIXED { String::new() } else { format!(", {variant}") };
    Ok(LawPoint { name: format!("case {number}{step}"), share, factor, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_point_has_the_share_of_all_boxes_and_the_factor_of_the_record() {
        let fixture = Fixture::new();
        let points = law_points(&Sources::of(&fixture.workspace()).unwrap(), "toy").unwrap();
        let [point] = &points[..] else { panic!("{points:?}") };
        assert_eq!((&*point.name, point.share as f32), ("case 4", 0.9));
        let [low, high] = point.interval.unwrap();
        assert!(low < point.factor && point.factor < high, "{point:?}");
    }

    #[test]
    fn a_box_a_case_or_a_number_that_is_not_there_is_named() {
        let fixture = Fixture::new();
        let error = |of| {
            let sources = Sources::of(&fixture.workspace()).unwrap();
            law_points(&sources, of).unwrap_err().to_string()
        };
        let found = error("toys");
        let why = "no case with [removes] is named `toys`; did you mean `toy`?";
        assert!(found.contains(why), "{found}");

        let case = std::fs::read_to_string(fixture.path().join("crates/toy/case.toml")).unwrap();
        fixture.write("crates/toy/case.toml", &case.replace("lock held", "lock hold"));
        let found = error("toy");
        let why = "no function is named `lock hold`; did you mean `lock held`?";
        assert!(found.contains(why), "{found}");

        fixture.write("docs/src/cases/toy.md", "# The toy\n");
        let found = error("toy");
        assert!(found.ends_with("toy.md does not begin with `# Case N:`"), "{found}");
    }
}
