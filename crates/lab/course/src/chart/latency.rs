//! How long requests take: the tail of both sides, in the closed loop and in the open one.

use lab_display::{
    picture::{FIGURE_WIDTH, LogScale, figure_text_width, fit, px},
    significant, time_ms,
};
use lab_load::Latency;
use lab_record::{CaseRecord, Latencies, Run, VariantRecord};
use maud::{Markup, html};

use super::{
    Chart,
    parts::{self, Label},
    sides,
};

/// The percentiles that are marked and named; the axis gives each further nine the same length.
const MARKED: [f64; 4] = [50.0, 90.0, 99.0, 99.9];
const LEFT: f64 = 76.0;
/// How wide a variant's name may be.
const NAME: f64 = 110.0;
/// How high the plot is.
const HEIGHT: f64 = 250.0;

/// Latency over percentiles, of the baseline and the candidate; arrivals at a constant rate dashed.
pub fn latency(case: &CaseRecord) -> Chart {
    let curves = curves(case);
    let names = curves.iter().map(|curve| figure_text_width(&curve.name)).fold(0.0, f64::max);
    let right = FIGURE_WIDTH - names - 26.0;
    let remarks = remarks(case, &curves);
    let top = 36.0 + remarks.len() as f64 * 22.0;
    let bottom = top + HEIGHT;
    // What is only known to be longer needs room for the arrows that say so.
    let room = |point: &Point| if point.at_least { point.ms * 2.0 } else { point.ms };
    let values = curves.iter().flat_map(|curve| &curve.points).map(room);
    let plot = Plot {
        ms: LogScale::covering(values, bottom, top),
        nines: curves.iter().map(Curve::nines).fold(nines(90.0), f64::max),
        left: LEFT,
        right,
    };
    let marked = MARKED.into_iter().filter(|percent| nines(*percent) <= plot.nines + 1e-9);
    let across = marked.map(|percent| (plot.x(nines(percent)), format!("p{percent}")));
    let up = plot.ms.ticks().into_iter().map(|ms| (plot.ms.at(ms), parts::time(ms * 1e6)));
    let title = fit(&format!("Latency of {}", case.case), FIGURE_WIDTH);
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        @for (index, remark) in remarks.iter().enumerate() {
            text class="muted" x="0" y=(px(38.0 + index as f64 * 22.0)) { (remark) }
        }
        (parts::axis_below(across, "share of requests that took no longer", (LEFT, right), (top, bottom)))
        (parts::axis_left(up, (LEFT, right)))
        @for curve in &curves { (curve.draw(&plot)) }
        (parts::labels(&names_of(&curves, &plot), right + 26.0, (top + 6.0, bottom - 6.0)))
    };
    Chart::new(bottom + parts::BELOW, &title, alt(case), body)
}

struct Plot {
    ms: LogScale,
    /// How far the axis of percentiles reaches.
    nines: f64,
    left: f64,
    right: f64,
}

impl Plot {
    fn x(&self, of: f64) -> f64 {
        let first = nines(MARKED[0]);
        self.left + (of - first) / (self.nines - first) * (self.right - self.left)
    }
}

/// How many nines a percentile has: 1 for 90 %, 2 for 99 %, 3 for 99.9 %.
fn nines(percent: f64) -> f64 {
    -(1.0 - percent / 100.0).log10()
}

struct Curve {
    name: String,
    class: &'static str,
    is_open: bool,
    points: Vec<Point>,
}

struct Point {
    nines: f64,
    ms: f64,
    /// Whether the true latency is longer, as requests were unfinished when their age was noted.
    at_least: bool,
}

/// What there is to draw; latencies that must not be quoted are not drawn either.
fn curves(case: &CaseRecord) -> Vec<Curve> {
    let Some((baseline, candidate)) = sides(case) else { return Vec::new() };
    let both = [(baseline, "slow"), (candidate, "fixed")];
    let closed = both.map(|(variant, class)| {
        Curve::new(fit(&variant.variant, NAME), class, false, of(variant, &case.runs))
    });
    let is_valid = |variant: &&VariantRecord| {
        variant.open_loop.as_ref().is_some_and(|open| open.invalid.is_none())
    };
    let open = both.into_iter().filter(|(variant, _)| is_valid(variant)).map(|(variant, class)| {
        let name = format!("{}, open", fit(&variant.variant, NAME));
        Curve::new(name, class, true, of(variant, &case.open_runs).take(1))
    });
    closed.into_iter().chain(open).flatten().collect()
}

fn of<'a>(variant: &'a VariantRecord, runs: &'a [Run]) -> impl Iterator<Item = &'a Run> {
    runs.iter().filter(|run| run.variant == variant.variant)
}

impl Curve {
    /// From all runs together; nothing if they recorded less than two requests.
    fn new<'a>(
        name: String,
        class: &'static str,
        is_open: bool,
        runs: impl Iterator<Item = &'a Run>,
    ) -> Option<Self> {
        let mut latency = Latency::default();
        let mut youngest: Option<f64> = None;
        for run in runs {
            latency.add(&run.outcome.latency);
            if let Some(age) = run.outcome.youngest_unfinished {
                let age = age.as_secs_f64() * 1e3;
                youngest = Some(youngest.map_or(age, |youngest| youngest.min(age)));
            }
        }
        // Of 100 requests, one is above p99 and none above p99.9.
        let last = (latency.count() as f64).log10().min(nines(99.9) + 1e-9);
        let steps = (1..).map(|step| f64::from(step) * 0.05).take_while(|nines| *nines < last);
        let places = MARKED.into_iter().map(nines).chain(steps);
        let mut places: Vec<_> =
            places.filter(|place| (nines(MARKED[0])..=last).contains(place)).collect();
        places.sort_by(f64::total_cmp);
        let points = places.into_iter().filter_map(|nines| {
            let ms = latency.percentile_ms(100.0 - 100.0 / 10_f64.powf(nines))?;
            Some(Point { nines, ms, at_least: youngest.is_some_and(|age| ms > age) })
        });
        let points: Vec<_> = points.collect();
        (!points.is_empty()).then_some(Self { name, class, is_open, points })
    }

    fn nines(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.nines)
    }

    fn draw(&self, plot: &Plot) -> Markup {
        let place = |point: &Point| (plot.x(point.nines), plot.ms.at(point.ms));
        let bound = self.points.iter().position(|point| point.at_least);
        let bound = bound.unwrap_or(self.points.len());
        let form = if self.is_open { "dashed" } else { "whole" };
        let is_marked =
            |point: &&Point| MARKED.iter().any(|it| (nines(*it) - point.nines).abs() < 1e-9);
        html! {
            (parts::line(&format!("{} {form}", self.class), self.points[..bound].iter().map(place)))
            @if bound < self.points.len() {
                // From the last that is known on.
                @let points = &self.points[bound.saturating_sub(1)..];
                (parts::line(&format!("{} dotted", self.class), points.iter().map(place)))
            }
            @for point in self.points.iter().filter(is_marked) {
                @let (x, y) = place(point);
                @if point.at_least { (parts::at_least(self.class, x, y)) }
                @else if !self.is_open { (parts::dot(self.class, x, y)) }
            }
        }
    }
}

fn names_of(curves: &[Curve], plot: &Plot) -> Vec<Label> {
    let label = |curve: &Curve| {
        let end = curve.points.last()?;
        let (x, y) = (plot.x(end.nines), plot.ms.at(end.ms));
        Some(Label { text: curve.name.clone(), x, y })
    };
    curves.iter().filter_map(label).collect()
}

/// What has to be known to read the lines, a line of text each.
fn remarks(case: &CaseRecord, curves: &[Curve]) -> Vec<String> {
    let mut remarks = Vec::new();
    let open = case.variants.iter().find_map(|variant| variant.open_loop.as_ref());
    if let Some(open) = open.filter(|_| curves.iter().any(|curve| curve.is_open)) {
        let rate = significant(open.rate_per_s);
        remarks.push(format!("Dashed: open loop, {rate} arrivals per second"));
    }
    if curves.iter().flat_map(|curve| &curve.points).any(|point| point.at_least) {
        remarks.push("Arrows: at least so long; requests outlast their run".to_owned());
    }
    let sides = sides(case).map_or(Vec::new(), |(one, other)| vec![one, other]);
    for variant in sides {
        if variant.open_loop.as_ref().is_some_and(|open| open.invalid.is_some()) {
            let name = fit(&variant.variant, NAME);
            remarks.push(format!("No open loop of {name}: the generator was late"));
        }
    }
    remarks
}

fn alt(case: &CaseRecord) -> String {
    let Some((baseline, candidate)) = sides(case) else { return String::new() };
    let told = |variant: &VariantRecord, Latencies { p50, p99, lower_bounds, .. }: Latencies| {
        let bound = if lower_bounds { "at least " } else { "" };
        let [p50, p99] = [p50, p99].map(|ms| format!("{bound}{}", time_ms(ms)));
        format!("{} p50 {p50} and p99 {p99}", variant.variant)
    };
    let both = [baseline, candidate];
    let closed = both.map(|variant| told(variant, variant.latency_ms)).join(", ");
    let mut alt = format!("Latency of {} under {}: {closed}.", case.case, case.load);
    let open = both.iter().filter_map(|variant| {
        let open = variant.open_loop.as_ref().filter(|open| open.invalid.is_none())?;
        Some((open.rate_per_s, told(variant, open.latency_ms)))
    });
    let (rates, open): (Vec<_>, Vec<_>) = open.unzip();
    if let Some(rate) = rates.first() {
        let rate = significant(*rate);
        alt.push_str(&format!(" With {rate} arrivals per second: {}.", open.join(", ")));
    }
    alt
}
