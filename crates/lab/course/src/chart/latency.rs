//! How long requests take: the tail of both sides, in the closed loop and in the open one.

use lab_display::{
    join,
    picture::{FIGURE_WIDTH, LogScale, Scale, figure_text_width, fit, px},
    significant,
};
use lab_model::{CaseRecord, Latencies, Latency, Percentile, Run, VariantRecord};
use maud::{Markup, html};

use super::{
    Chart,
    parts::{self, Label},
};

const LEFT: f64 = 76.0;
const NAME: f64 = 110.0;
const HEIGHT: f64 = 250.0;

/// Latency over percentiles, of the baseline and the candidate. The open loop is dashed.
pub fn latency(case: &CaseRecord) -> Chart {
    let sides =
        case.sides().map_or(Vec::new(), |(one, other)| vec![(one, "slow"), (other, "fixed")]);
    let curves = curves(case, &sides);
    let names = curves.iter().map(|curve| figure_text_width(&curve.name)).fold(0.0, f64::max);
    let right = FIGURE_WIDTH - names - 26.0;
    let remarks = remarks(&sides, &curves);
    let top = 36.0 + remarks.len() as f64 * 22.0;
    let bottom = top + HEIGHT;
    let points = || curves.iter().flat_map(|curve| &curve.points);
    // Above a lower bound there is an arrow.
    let values = points().map(|point| if point.at_least { point.ms * 2.0 } else { point.ms });
    let most = points().map(|point| point.nines).fold(nines(90.0), f64::max);
    let plot = Plot {
        ms: LogScale::covering(values, bottom, top),
        nines: Scale { max: most - nines(50.0), start: LEFT, end: right },
    };
    let marked = Percentile::all().filter(|at| nines(at.percent()) <= most + 1e-9);
    let across = marked.map(|at| (plot.x(nines(at.percent())), at.name().to_owned()));
    let up = plot.ms.ticks().into_iter().map(|ms| (plot.ms.at(ms), parts::time(ms * 1e6)));
    let labels: Vec<_> = curves.iter().filter_map(|curve| curve.label(&plot)).collect();
    let title = fit(&format!("Latency of {}", case.case), FIGURE_WIDTH);
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        @for (index, remark) in remarks.iter().enumerate() {
            text class="muted" x="0" y=(px(38.0 + index as f64 * 22.0)) { (remark) }
        }
        (parts::axis_below(across, "share of requests that took no longer", (LEFT, right), (top, bottom)))
        (parts::axis_left(up, (LEFT, right)))
        @for curve in &curves { (curve.draw(&plot)) }
        (parts::labels(&labels, right + 26.0, (top + 6.0, bottom - 6.0)))
    };
    Chart::new(bottom + parts::BELOW, &title, alt(case, &sides), body)
}

struct Plot {
    ms: LogScale,
    nines: Scale,
}

impl Plot {
    fn x(&self, of: f64) -> f64 {
        self.nines.at(of - nines(50.0))
    }
}

/// How many nines a percentile has: 1 for 90 %, 2 for 99 %, 3 for 99.9 %. The axis gives each the same
/// length.
fn nines(percent: f64) -> f64 {
    -(1.0 - percent / 100.0).log10()
}

/// The percentiles that are marked and named.
fn marks() -> impl Iterator<Item = f64> {
    Percentile::all().map(|at| nines(at.percent()))
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
    /// Whether this is a lower bound: some requests were unfinished when their age was noted.
    at_least: bool,
}

/// What to draw. Latencies that must not be quoted are not drawn either.
fn curves(case: &CaseRecord, sides: &[(&VariantRecord, &'static str)]) -> Vec<Curve> {
    let of = |runs: &[Run], name: &str| -> Vec<Run> {
        runs.iter().filter(|run| run.variant == name).cloned().collect()
    };
    let closed = sides.iter().map(|(variant, class)| {
        let name = fit(&variant.variant, NAME);
        Curve { name, class, is_open: false, points: points(&of(&case.runs, &variant.variant)) }
    });
    let open = sides.iter().filter(|(variant, _)| variant.valid_open_loop().is_some());
    let open = open.map(|(variant, class)| {
        let name = format!("{}, open", fit(&variant.variant, NAME));
        let runs = of(&case.open_runs, &variant.variant);
        Curve { name, class, is_open: true, points: points(&runs[..runs.len().min(1)]) }
    });
    closed.chain(open).filter(|curve| !curve.points.is_empty()).collect()
}

/// The percentiles of all runs together.
fn points(runs: &[Run]) -> Vec<Point> {
    let mut latency = Latency::default();
    runs.iter().for_each(|run| latency.add(&run.outcome.latency));
    let ages = runs.iter().filter_map(|run| run.outcome.youngest_unfinished);
    let youngest = ages.min().map(|age| age.as_secs_f64() * 1e3);
    let last = marks().fold(0.0, f64::max) + 1e-9;
    let steps = (1..).map(|step| f64::from(step) * 0.05).take_while(|nines| *nines < last);
    let places = marks().chain(steps);
    let mut places: Vec<_> = places.filter(|place| *place >= nines(50.0)).collect();
    places.sort_by(f64::total_cmp);
    let points = places.into_iter().filter_map(|nines| {
        let ms = latency.percentile_ms(100.0 - 100.0 / 10_f64.powf(nines))?;
        Some(Point { nines, ms, at_least: youngest.is_some_and(|age| ms > age) })
    });
    points.collect()
}

impl Curve {
    fn draw(&self, plot: &Plot) -> Markup {
        let place = |point: &Point| (plot.x(point.nines), plot.ms.at(point.ms));
        let bound = self.points.iter().position(|point| point.at_least);
        let bound = bound.unwrap_or(self.points.len());
        let form = if self.is_open { "dashed" } else { "whole" };
        let is_marked = |point: &&Point| marks().any(|it| (it - point.nines).abs() < 1e-9);
        html! {
            (parts::line(&format!("{} {form}", self.class), self.points[..bound].iter().map(place)))
            @if bound < self.points.len() {
                // From the last known point on.
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

    fn label(&self, plot: &Plot) -> Option<Label> {
        let end = self.points.last()?;
        Some(Label { text: self.name.clone(), x: plot.x(end.nines), y: plot.ms.at(end.ms) })
    }
}

/// What readers need to know of the lines, a line of text each.
fn remarks(sides: &[(&VariantRecord, &str)], curves: &[Curve]) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(open) = sides.iter().find_map(|(variant, _)| variant.valid_open_loop()) {
        let rate = significant(open.rate_per_s);
        remarks.push(format!("Dashed: open loop, {rate} arrivals per second on average"));
    }
    if curves.iter().flat_map(|curve| &curve.points).any(|point| point.at_least) {
        remarks.push("Arrows: lower bounds; requests outlasted their run".to_owned());
    }
    remarks
}

fn alt(case: &CaseRecord, sides: &[(&VariantRecord, &str)]) -> String {
    let in_words = |variant: &VariantRecord, latency: Latencies| {
        let known = Percentile::all().filter(|at| latency.by.get(*at).is_some());
        let known: Vec<_> = known.map(|at| format!("{} {}", at.name(), latency.at(at))).collect();
        format!("{} {}", variant.variant, join(&known)).replace('≥', "at least ")
    };
    let closed: Vec<_> = sides.iter().map(|(it, _)| in_words(it, it.latency_ms)).collect();
    let mut alt = format!("Latency of {} under {}: {}.", case.case, case.load, closed.join(", "));
    let open = sides.iter().filter_map(|(it, _)| {
        let open = it.valid_open_loop()?;
        Some((open.rate_per_s, in_words(it, open.latency_ms)))
    });
    let (rates, open): (Vec<_>, Vec<_>) = open.unzip();
    if let Some(rate) = rates.first() {
        let rate = significant(*rate);
        alt.push_str(&format!(" With {rate} arrivals per second: {}.", open.join(", ")));
    }
    alt
}
