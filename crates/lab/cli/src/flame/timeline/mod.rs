//! The timeline of requests: what each waited for, slow above fixed, on one time axis.
//!
//! A profiler shows an almost idle server here. What shows the fault is who waits for whom: slow is
//! a staircase, and fixed is a wall.

mod row;
mod story;

use maud::{Markup, html};

use self::story::{ROWS, Story};
use super::spans::Spans;
use crate::{
    display::{thousands, time_ms},
    picture::{Canvas, Scale, bar, frame, px, time_axis},
};

/// A record and the name of the variant that it is of.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The variant's name.
    pub variant: &'a str,
    /// What its server told.
    pub spans: &'a Spans,
}

/// Draws twelve consecutive requests of each record, the first record above the second.
pub fn draw(slow: Side, fixed: Side, canvas: Canvas) -> Markup {
    let (slow_story, fixed_story, length_us) = Story::of_both(slow.spans, fixed.spans);
    let layout = Layout::new(canvas, length_us);
    let halves = [(slow.variant, &slow_story), (fixed.variant, &fixed_story)];
    let (first, second) = (layout.first_half(), layout.second_half());
    let title = format!("Timeline of requests, {} above {}", slow.variant, fixed.variant);
    let desc: Vec<_> =
        halves.iter().map(|(name, story)| heading(name, story, length_us, canvas)).collect();
    let body = html! {
        (key(&layout))
        (time_axis(&layout.scale, first - 4.0, layout.bottom(), canvas.pick(7, 4)))
        @for ((name, story), top) in halves.iter().zip([first, second]) {
            (half(name, story, length_us, &layout, top))
        }
    };
    frame(canvas, layout.bottom() + 24.0, &title, &desc.join(". "), body)
}

/// Where things lie.
struct Layout {
    canvas: Canvas,
    /// Of milliseconds since the window's begin: one for both halves.
    scale: Scale,
    /// From one row to the next.
    pitch: f64,
}

impl Layout {
    fn new(canvas: Canvas, length_us: f64) -> Self {
        let (start, end) = canvas.pick((164.0, 860.0), (78.0, 310.0));
        let scale = Scale { max: length_us / 1e3, start, end };
        Self { canvas, scale, pitch: canvas.pick(19.0, 17.0) }
    }

    /// The height of a half's two lines of heading.
    fn heading(&self) -> f64 {
        self.canvas.pick(52.0, 48.0)
    }

    fn first_half(&self) -> f64 {
        self.canvas.pick(34.0, 58.0) + self.heading()
    }

    fn second_half(&self) -> f64 {
        self.first_half() + ROWS as f64 * self.pitch + self.heading() + 6.0
    }

    fn bottom(&self) -> f64 {
        self.second_half() + ROWS as f64 * self.pitch + 2.0
    }
}

/// One variant: what happened in its window, and its rows.
fn half(variant: &str, story: &Story, length_us: f64, layout: &Layout, top: f64) -> Markup {
    let y = top - layout.heading() + 18.0;
    let middle = story.rows.len() / 4;
    html! {
        text class="head halo" x="0" y=(px(y)) { (heading(variant, story, length_us, layout.canvas)) }
        text class="muted halo" x="0" y=(px(y + 18.0)) { (left_out(story, layout.canvas)) }
        @for (index, request) in story.rows.iter().enumerate() {
            @let y = top + index as f64 * layout.pitch;
            (row::draw(request, index, story, layout, y, index == middle))
        }
        @if let Some(last) = story.rows.last() {
            @let y = top + (story.rows.len() - 1) as f64 * layout.pitch;
            (row::name_of_wait(last, story, layout, y))
        }
    }
}

/// The finding in a line, from what was counted.
fn heading(variant: &str, story: &Story, length_us: f64, canvas: Canvas) -> String {
    if story.rows.is_empty() {
        return format!("{variant}: no request was answered");
    }
    let at_once = match story.at_once {
        0 | 1 => "one at a time".to_owned(),
        many => format!("{}{} at once", canvas.pick("up to ", ""), thousands(many as f64)),
    };
    let (answered, length) = (thousands(story.answered as f64), time_ms(length_us / 1e3));
    format!("{variant}: {at_once}, {answered} answers in {length}")
}

/// What the picture leaves out.
fn left_out(story: &Story, canvas: Canvas) -> String {
    let least = if story.incomplete { "at least " } else { "" };
    let count = thousands(story.not_drawn as f64);
    match canvas {
        Canvas::Wide => format!(
            "{} consecutive requests are drawn; {least}{count} more were open in this time",
            story.rows.len()
        ),
        Canvas::Narrow => format!("not drawn: {least}{count} more open requests"),
    }
}

/// What the colours mean.
fn key(layout: &Layout) -> Markup {
    let entries = [
        ("lock-wait", "waits for the lock"),
        ("lock-held", "holds the lock"),
        ("downstream-wait", "waits for another server"),
    ];
    let places = layout
        .canvas
        .pick([(0.0, 8.0), (170.0, 8.0), (312.0, 8.0)], [(0.0, 8.0), (150.0, 8.0), (0.0, 28.0)]);
    html! {
        @for ((class, text), (x, y)) in entries.into_iter().zip(places) {
            (row::sample(class, x + 1.0, y))
            text x=(px(x + 26.0)) y=(px(y + 10.0)) { (text) }
        }
    }
}

#[cfg(test)]
mod tests;
