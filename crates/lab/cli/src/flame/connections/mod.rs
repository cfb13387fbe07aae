//! Connections over time: slow opens them as long as it runs, fixed keeps the few that it has.

use std::time::Duration;

use maud::{Markup, html};

use crate::display::{significant, thousands};
use crate::picture::{Canvas, Scale, frame, px, time_axis};

/// What a companion had counted at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Since the load began.
    pub at: Duration,
    /// Connections that were opened up to then.
    pub connections: u64,
    /// Handshakes up to then, full and resumed.
    pub handshakes: u64,
}

/// The samples of one variant, in the order of time.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// The variant's name.
    pub variant: &'a str,
    /// From the begin of the load on.
    pub samples: &'a [Sample],
}

/// Draws the counts of both variants on one pair of axes.
pub fn draw(slow: Series, fixed: Series, canvas: Canvas) -> Markup {
    let height = canvas.pick(340.0, 300.0);
    let both = [(slow, "slow"), (fixed, "fixed")];
    let samples = || both.iter().flat_map(|(series, _)| series.samples);
    let longest = samples().map(|sample| sample.at.as_secs_f64() * 1e3).fold(0.0, f64::max);
    let most = samples().map(|sample| sample.connections.max(sample.handshakes)).max();
    let (left, right) = canvas.pick((64.0, 940.0), (50.0, 345.0));
    let bottom = height - 26.0;
    let time = Scale { max: longest, start: left, end: right };
    // One at least, so that a flat line at 0 has a scale to lie on.
    let count = Scale { max: most.unwrap_or(0).max(1) as f64 * 1.08, start: bottom, end: 30.0 };
    let lines: Vec<_> = both.iter().flat_map(|(series, class)| lines(series, class)).collect();
    let mut ends = [slow, fixed].into_iter().filter_map(|series| series.samples.last());
    let about = match ends.all(a_handshake_each) {
        true => "opened since the load began, a TLS handshake each",
        false => "opened since the load began",
    };
    let title = format!("Connections over time, {} and {}", slow.variant, fixed.variant);
    let desc = lines.iter().map(|line| line.label.as_str()).collect::<Vec<_>>().join(". ");
    let body = html! {
        text class="muted" x="0" y="14" { (about) }
        (time_axis(&time, 30.0, bottom, canvas.pick(8, 4)))
        (count_axis(&count, left, right))
        @for line in &lines { (line.draw(&time, &count)) }
        @for (line, y) in lines.iter().zip(label_places(&lines, &count)) {
            text class="label halo" x=(px(right - 8.0)) y=(px(y)) text-anchor="end" { (line.label) }
        }
    };
    frame(canvas, height, &title, &desc, body)
}

/// A count of a variant over time.
struct Line {
    class: String,
    label: String,
    /// Milliseconds, and the count then.
    points: Vec<(f64, f64)>,
}

/// The connections of a variant, and its handshakes if these are not as many.
fn lines(series: &Series, class: &str) -> Vec<Line> {
    let Some(last) = series.samples.last() else { return Vec::new() };
    let line = |what: &str, class: String, count: fn(&Sample) -> u64| {
        let points = series
            .samples
            .iter()
            .map(|sample| (sample.at.as_secs_f64() * 1e3, count(sample) as f64));
        let (all, rate) = (thousands(count(last) as f64), rate(series.samples, count));
        Line {
            class,
            label: format!("{}: {all} {what}, {rate}", series.variant),
            points: points.collect(),
        }
    };
    let same = a_handshake_each(last);
    let mut lines = vec![line("connections", format!("line {class}"), |sample| sample.connections)];
    if !same {
        lines.push(line("handshakes", format!("line second {class}"), |sample| sample.handshakes));
    }
    lines
}

/// Whether there are as many handshakes as connections, but for those that are under way.
fn a_handshake_each(last: &Sample) -> bool {
    last.connections.abs_diff(last.handshakes) * 50 <= last.connections
}

/// How fast a count grows: over the whole of it, or not at all after the first tenth.
fn rate(samples: &[Sample], count: fn(&Sample) -> u64) -> String {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return String::new() };
    let later = &samples[samples.len() / 10..];
    if samples.len() > 1 && later.iter().all(|sample| count(sample) == count(last)) {
        return "and no more".to_owned();
    }
    let seconds = last.at.saturating_sub(first.at).as_secs_f64();
    if seconds <= 0.0 {
        return "in one sample".to_owned();
    }
    format!("{} per second", significant(count(last).saturating_sub(count(first)) as f64 / seconds))
}

impl Line {
    fn draw(&self, time: &Scale, count: &Scale) -> Markup {
        let points = self
            .points
            .iter()
            .map(|(ms, value)| format!("{},{}", px(time.at(*ms)), px(count.at(*value))));
        html! { polyline class=(self.class) points=(points.collect::<Vec<_>>().join(" ")) {} }
    }
}

/// The names of lines stand above their ends, moved up where they would lie on each other.
fn label_places(lines: &[Line], count: &Scale) -> Vec<f64> {
    let end = |line: &Line| count.at(line.points.last().map_or(0.0, |(_, value)| *value));
    let mut order: Vec<_> = lines.iter().map(end).enumerate().collect();
    order.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let mut places = vec![0.0; lines.len()];
    let mut lowest = f64::MAX;
    for (index, end) in order {
        lowest = (end - 8.0).min(lowest - 18.0);
        places[index] = lowest;
    }
    places
}

/// Counts on the left, with a line through the picture at each.
fn count_axis(count: &Scale, left: f64, right: f64) -> Markup {
    html! {
        @for tick in count.ticks(4) {
            @let y = px(count.at(tick));
            line class=(if tick == 0.0 { "axis" } else { "grid" }) x1=(left) x2=(right) y1=(y) y2=(y) {}
            text class="tick muted" x=(left - 8.0) y=(y + 4.0) text-anchor="end" { (thousands(tick)) }
        }
    }
}

#[cfg(test)]
mod tests;
