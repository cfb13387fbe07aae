//! `chart`: a picture beside the pages, and the image that shows it.

use anyhow::Context as _;

use crate::{
    case::{BASELINE, CANDIDATE},
    chart::{self, Chart, SweepLabels, SweepPoint, Time},
    docs::{
        benches::Bench,
        recipe::{Call, Made, bracketed},
    },
};

/// `chart speedups`.
pub fn speedups(call: &Call) -> anyhow::Result<Made> {
    let [] = call.arguments()?;
    beside_the_pages(call, "speedups", chart::speedups(call.sources.record()?))
}

/// `chart case CASE`.
pub fn case(call: &Call) -> anyhow::Result<Made> {
    let [case] = call.arguments()?;
    let chart = chart::case(call.sources.measured(case)?);
    beside_the_pages(call, &format!("case-{case}"), chart)
}

/// `chart latency CASE`.
pub fn latency(call: &Call) -> anyhow::Result<Made> {
    let [case] = call.arguments()?;
    let chart = chart::latency(call.sources.measured(case)?);
    beside_the_pages(call, &format!("latency-{case}"), chart)
}

/// `chart sweep GROUP`.
pub fn sweep(call: &Call) -> anyhow::Result<Made> {
    let [group] = call.arguments()?;
    let benches = call.sources.benches()?.group(group)?;
    let points = points(&benches).with_context(|| format!("`{group}` is no sweep"))?;
    let words = call.sources.sweep(group)?;
    let labels = SweepLabels {
        title: &words.title,
        parameter: &words.parameter,
        time: &words.time,
        slow: BASELINE,
        fixed: CANDIDATE,
    };
    beside_the_pages(call, group, chart::sweep(&points, &labels))
}

/// Both sides at every parameter, in the order in which slow was measured.
fn points(benches: &[&Bench]) -> anyhow::Result<Vec<SweepPoint>> {
    let time = |bench: &Bench| Time { ns: bench.ns, low: bench.low_ns, high: bench.high_ns };
    let mut points = Vec::new();
    for slow in benches.iter().filter(|bench| bench.name == BASELINE) {
        let parameter = slow.parameter.as_deref().context("a bench has no parameter")?;
        let is_other = |bench: &&&Bench| {
            bench.name == CANDIDATE && bench.parameter.as_deref() == Some(parameter)
        };
        let fixed = benches.iter().find(is_other);
        let fixed = fixed.with_context(|| format!("nothing is as {}", slow.id()))?;
        let parameter = parameter.parse().with_context(|| format!("`{parameter}` is no number"))?;
        points.push(SweepPoint { parameter, slow: time(slow), fixed: time(fixed) });
    }
    Ok(points)
}

fn beside_the_pages(call: &Call, name: &str, chart: Chart) -> anyhow::Result<Made> {
    let file = format!("charts/{name}.svg");
    let link = call.link_beside(&file);
    let alt = bracketed(&chart.alt);
    Ok(Made { markdown: format!("![{alt}]({link})"), file: Some((file, chart.svg)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench(name: &str, parameter: &str, ns: f64) -> Bench {
        Bench {
            group: "sweep-toy".to_owned(),
            name: name.to_owned(),
            parameter: Some(parameter.to_owned()),
            ns,
            low_ns: ns * 0.9,
            high_ns: ns * 1.1,
        }
    }

    #[test]
    fn both_sides_meet_at_their_parameter_in_whatever_order_they_were_measured() {
        let benches = [
            bench("slow", "0.1", 50.0),
            bench("slow", "20", 9.0),
            bench("fixed", "20", 3.0),
            bench("fixed", "0.1", 10.0),
        ];
        let points = points(&benches.iter().collect::<Vec<_>>()).unwrap();
        let told: Vec<_> =
            points.iter().map(|it| (it.parameter, it.slow.ns, it.fixed.ns)).collect();
        assert_eq!(told, [(0.1, 50.0, 10.0), (20.0, 9.0, 3.0)]);
    }

    #[test]
    fn a_side_that_is_alone_is_no_sweep() {
        let alone = bench("slow", "1", 50.0);
        assert!(points(&[&alone]).unwrap_err().to_string().contains("nothing is as slow/1"));
        let other = bench("fixed", "many", 50.0);
        let slow = bench("slow", "many", 50.0);
        let error = points(&[&slow, &other]).unwrap_err();
        assert!(error.to_string().contains("`many` is no number"), "{error}");
    }
}
