//! Both sides over a parameter: where the fix pays, where it does not, and where that changes.

use maud::{Markup, html};

use super::{
    Chart, axis,
    crossover::Finding,
    labels::{self, Label},
    marks,
};
use crate::picture::{FIGURE_WIDTH, LogScale, Scale, figure_text_width, fit, px};

/// A time and its interval, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// The estimate.
    pub ns: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Both sides at one value of the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepPoint {
    /// What is varied. If it is 0 anywhere, its axis is linear, as 0 has no logarithm.
    pub parameter: f64,
    /// The baseline.
    pub slow: Time,
    /// The candidate.
    pub fixed: Time,
}

/// What a sweep is about.
#[derive(Clone, Copy, Debug)]
pub struct SweepLabels<'a> {
    /// What is measured, as a heading: `A clone in a loop of a million rounds`.
    pub title: &'a str,
    /// What is varied, with its unit: `bytes per document`.
    pub parameter: &'a str,
    /// What takes the time: `time per document`.
    pub time: &'a str,
    /// The name of the baseline.
    pub slow: &'a str,
    /// The name of the candidate.
    pub fixed: &'a str,
}

/// The time of one side at a point.
type Side = fn(&SweepPoint) -> Time;

const LEFT: f64 = 76.0;
const HEIGHT: f64 = 270.0;
/// How many characters of a sentence have room beside each other.
const COLUMNS: usize = 58;

/// Draws both sides on logarithmic axes, with what is found of a crossover written above them.
pub fn sweep(points: &[SweepPoint], labels: &SweepLabels) -> Chart {
    let mut points = points.to_vec();
    points.sort_by(|one, other| one.parameter.total_cmp(&other.parameter));
    let finding = Finding::of(&points, labels);
    let sentence = textwrap::wrap(&finding.sentence, COLUMNS);
    let axes = format!("Up: {}", labels.time);
    let top = 62.0 + sentence.len() as f64 * 22.0;
    let (bottom, names) = (top + HEIGHT, [labels.slow, labels.fixed].map(|name| fit(name, 140.0)));
    let right =
        FIGURE_WIDTH - names.iter().map(|name| figure_text_width(name)).fold(0.0, f64::max) - 26.0;
    let across = Across::new(&points, right);
    let times = points.iter().flat_map(|point| [point.slow, point.fixed]);
    let up = LogScale::covering(times.flat_map(|time| [time.ns, time.low, time.high]), bottom, top);
    let up_ticks = up.ticks().into_iter().map(|ns| (up.at(ns), axis::time(ns)));
    let title = fit(labels.title, FIGURE_WIDTH);
    let sides: [(&str, Side); 2] = [("slow", |point| point.slow), ("fixed", |point| point.fixed)];
    let ends = names.into_iter().zip(sides).filter_map(|(text, (_, side))| {
        let last = points.last()?;
        Some(Label { text, x: across.at(last.parameter), y: up.at(side(last).ns) })
    });
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        @for (index, line) in sentence.iter().enumerate() {
            text class="finding" x="0" y=(px(40.0 + index as f64 * 22.0)) { (line) }
        }
        text class="small muted" x="0" y=(px(top - 16.0)) { (fit(&axes, FIGURE_WIDTH)) }
        (axis::below(across.ticks(), &fit(labels.parameter, right - LEFT), (LEFT, right), (top, bottom)))
        (axis::beside(up_ticks, (LEFT, right)))
        @for crossing in &finding.crossings {
            @let x = px(across.at(*crossing));
            line class="mark" x1=(x) x2=(x) y1=(px(top)) y2=(px(bottom)) {}
        }
        @for (class, side) in sides { (draw(class, &points, side, &across, &up)) }
        (labels::draw(&ends.collect::<Vec<_>>(), right + 26.0, (top + 6.0, bottom - 6.0)))
    };
    let alt = format!("{}, over {}: {}", labels.title, labels.parameter, finding.sentence);
    Chart::new(bottom + axis::BELOW, &title, alt, body)
}

fn draw(class: &str, points: &[SweepPoint], side: Side, across: &Across, up: &LogScale) -> Markup {
    html! {
        (marks::line(class, points.iter().map(|it| (across.at(it.parameter), up.at(side(it).ns)))))
        @for point in points {
            @let Time { ns, low, high } = side(point);
            (marks::upright(class, across.at(point.parameter), up.at(low), up.at(ns), up.at(high)))
        }
    }
}

/// The axis of the parameter.
enum Across {
    Logarithmic(LogScale),
    Linear(Scale),
}

impl Across {
    fn new(points: &[SweepPoint], right: f64) -> Self {
        let parameters = || points.iter().map(|point| point.parameter);
        match parameters().all(|parameter| parameter > 0.0) {
            true => Self::Logarithmic(LogScale::covering(parameters(), LEFT, right)),
            false => Self::Linear(Scale {
                max: parameters().fold(0.0, f64::max),
                start: LEFT + 10.0,
                end: right - 10.0,
            }),
        }
    }

    fn at(&self, value: f64) -> f64 {
        match self {
            Self::Logarithmic(scale) => scale.at(value),
            Self::Linear(scale) => scale.at(value),
        }
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let ticks = match self {
            Self::Logarithmic(scale) => scale.ticks(),
            Self::Linear(scale) => scale.ticks(4),
        };
        ticks.into_iter().map(|tick| (self.at(tick), axis::number(tick))).collect()
    }
}
