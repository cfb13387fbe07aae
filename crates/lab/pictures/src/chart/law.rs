//! Amdahl's law as a curve, and where measured fixes are: on it, above it or below it.

use lab_report::{factor, join, percent, significant};
use maud::{Markup, html};

use super::{Chart, parts};
use crate::svg::{FIGURE_WIDTH, LogScale, Scale, px};

/// A fix: the share of the time that it removes, by a profile, and the factor that was measured.
#[derive(Clone, Debug)]
pub struct LawPoint {
    pub name: String,
    pub share: f64,
    pub factor: f64,
    pub interval: Option<[f64; 2]>,
}

impl LawPoint {
    /// A point of the curve itself.
    fn of_curve(share: f64) -> Self {
        let factor = by_law(share);
        Self { name: percent(share), share, factor, interval: None }
    }

    /// What the law allows for the share.
    fn promised(&self) -> f64 {
        by_law(self.share)
    }

    fn is_below(&self) -> bool {
        self.interval.is_some_and(|[_, high]| high < self.promised())
    }
}

fn by_law(share: f64) -> f64 {
    1.0 / (1.0 - share)
}

const LEFT: f64 = 50.0;
const RIGHT: f64 = FIGURE_WIDTH - 16.0;
const TOP: f64 = 54.0;
const BOTTOM: f64 = TOP + 290.0;
/// The points of the curve that stand for it where nothing was measured.
const ROUND: [f64; 3] = [0.5, 0.9, 0.99];
/// The segments of the curve.
const SEGMENTS: u32 = 60;

/// The curve with these points. Without any, it shows three of its own.
pub fn law(measured: &[LawPoint]) -> Chart {
    let of_curve = ROUND.map(LawPoint::of_curve);
    let points = if measured.is_empty() { &of_curve[..] } else { measured };
    let across = Scale { max: 100.0, start: LEFT, end: RIGHT };
    let ends = points.iter().flat_map(|it| it.interval.unwrap_or([it.factor; 2]));
    let up = LogScale::covering(ends.chain([1.0, by_law(0.99)]), BOTTOM, TOP);
    let curve = (0..=SEGMENTS).map(|nth| {
        let at = up.high.powf(f64::from(nth) / f64::from(SEGMENTS));
        (across.at(100.0 * (1.0 - 1.0 / at)), up.at(at))
    });
    let percents = across.ticks(5).into_iter().map(|it| (across.at(it), format!("{it} %")));
    let factors = up.ticks().into_iter().map(|it| (up.at(it), factor_tick(it)));
    let title = "The most that a fix can gain, by Amdahl's law";
    let how = match measured {
        [] => "Up: the factor",
        _ => "Up: the factor. Next to a name: by the curve → measured",
    };
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        text class="small muted" x="0" y="38" { (how) }
        (parts::axis_below(percents, "share of the time that the fix removes", (LEFT, RIGHT), (TOP, BOTTOM)))
        (parts::axis_left(factors, (LEFT, RIGHT)))
        (parts::line("slow", curve))
        @for (point, y) in points.iter().zip(heights(points, &up)) {
            (draw(point, (across.at(100.0 * point.share), y), &up))
        }
    };
    Chart::new(BOTTOM + parts::BELOW, title, alt(measured), body)
}

fn factor_tick(at: f64) -> String {
    format!("{}×", parts::number(at))
}

/// The heights of the names: those of the points, if they are far enough above each other.
fn heights(points: &[LawPoint], up: &LogScale) -> Vec<f64> {
    let from_below: Vec<_> = points.iter().map(|it| -up.at(it.factor)).collect();
    parts::places(&from_below, -BOTTOM, -TOP).into_iter().map(|it| -it).collect()
}

/// A point at `x`, its distance from the curve, and its name at the height `y`: on the free side of the curve.
fn draw(point: &LawPoint, (x, y): (f64, f64), up: &LogScale) -> Markup {
    let (at, promised) = (up.at(point.factor), up.at(point.promised()));
    let (away, anchor) = if point.is_below() { (1.0, "start") } else { (-1.0, "end") };
    let leader = format!("M{} {}L{} {}", px(x + 7.0 * away), px(at), px(x + 14.0 * away), px(y));
    let found = factor(point.factor);
    let figures = if point.factor == point.promised() {
        found
    } else {
        format!("{} → {found}", significant(point.promised()))
    };
    html! {
        path class="cut" d=(format!("M{} {}V{}", px(x), px(promised), px(at))) {}
        @match point.interval {
            Some([low, high]) => (parts::upright("fixed", x, up.at(low), at, up.at(high))),
            None => (parts::dot("fixed", x, at)),
        }
        path class="leader" d=(leader) {}
        text class="halo" x=(px(x + 18.0 * away)) y=(px(y + 5.0)) text-anchor=(anchor) {
            tspan class="name-of" { (point.name) }
            tspan { " " (figures) }
        }
    }
}

fn alt(measured: &[LawPoint]) -> String {
    let of = |share| format!("{} gives {}", percent(share), factor(by_law(share)));
    let curve = format!(
        "Amdahl's law as a curve, flat at first and steep at the end: {}.",
        join(&ROUND.map(of))
    );
    let one = |it: &LawPoint| {
        format!("{}: {} (curve {})", it.name, factor(it.factor), factor(it.promised()))
    };
    let all = measured.iter().map(one).collect::<Vec<_>>().join("; ");
    if measured.is_empty() { curve } else { format!("{curve} Measured: {all}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, share: f64, factor: f64) -> LawPoint {
        let interval = Some([0.9 * factor, 1.1 * factor]);
        LawPoint { name: name.to_owned(), share, factor, interval }
    }

    /// The coordinates of the dots, in their order.
    fn dots(svg: &str) -> Vec<(f64, f64)> {
        let numbers = |path: &str| {
            let (x, y) = path.split_once(' ').unwrap();
            (x.parse().unwrap(), y.split('l').next().unwrap().parse().unwrap())
        };
        svg.split("dot fixed\" d=\"M").skip(1).map(numbers).collect()
    }

    /// The height of the curve at `x`, between two of its points.
    fn curve_at(svg: &str, x: f64) -> f64 {
        let points = svg.split("line slow\" points=\"").nth(1).unwrap().split('"').next().unwrap();
        let number = |it: &str| it.parse::<f64>().unwrap();
        let points = points.split(' ').map(|it| it.split_once(',').unwrap());
        let points: Vec<_> = points.map(|(x, y)| (number(x), number(y))).collect();
        let found = points.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&x)).unwrap();
        let along = (x - found[0].0) / (found[1].0 - found[0].0);
        found[0].1 + along * (found[1].1 - found[0].1)
    }

    #[test]
    fn a_curve_without_points_has_three_of_its_own_that_are_on_it() {
        let chart = law(&[]);
        assert!(
            chart.alt.ends_with("50 % gives 2.00×, 90 % gives 10.0× and 99 % gives 100×."),
            "{}",
            chart.alt
        );
        let found = dots(&chart.svg);
        assert_eq!(found.len(), 3, "{}", chart.svg);
        for (x, top) in found {
            // A dot's path starts at its upper corner.
            assert!((top + 5.5 - curve_at(&chart.svg, x)).abs() < 1.5, "{}", chart.svg);
        }
    }

    #[test]
    fn a_point_is_above_the_curve_if_more_was_measured_and_below_it_if_less() {
        let chart = law(&[point("more", 0.784, 9.79), point("less", 0.283, 1.08)]);
        let [(more_x, more), (less_x, less)] = dots(&chart.svg)[..] else {
            panic!("{}", chart.svg)
        };
        assert!(more + 5.5 < curve_at(&chart.svg, more_x) - 10.0, "{}", chart.svg);
        assert!(less + 5.5 > curve_at(&chart.svg, less_x) + 5.0, "{}", chart.svg);
        assert!(chart.svg.contains("4.63 → 9.79×"), "{}", chart.svg);
        let measured = "Measured: more: 9.79× (curve 4.63×); less: 1.08× (curve 1.39×).";
        assert!(chart.alt.contains(measured), "{}", chart.alt);
    }

    #[test]
    fn names_of_near_points_do_not_overlap() {
        let chart = law(&[point("one", 0.78, 9.8), point("other", 0.82, 10.4)]);
        let names = chart.svg.split("class=\"halo\"").skip(1);
        let height = |it: &str| it.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse();
        let heights: Vec<f64> = names.map(|it| height(it).unwrap()).collect();
        assert!((heights[0] - heights[1]).abs() >= 19.9, "{heights:?}");
    }
}
