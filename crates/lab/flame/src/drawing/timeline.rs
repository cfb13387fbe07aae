//! The timeline of requests: what each waited for, slow above fixed, on one time axis.
//!
//! A profiler shows an almost idle server here. The picture shows which request waits for which: slow is a
//! staircase, fixed is a wall.

mod story;

use std::collections::BTreeMap;

use lab_case::{Role, SpanKind};
use lab_display::{
    picture::{FIGURE_WIDTH, Scale, bar, figure, figure_text_width, px, time_axis},
    thousands, time_ms,
};
use maud::{Markup, html};

use self::story::{ROWS, Story};
use crate::seen::{Part, Request, Spans};

/// The height of a bar, and the distance from one row to the next.
const BAR: f64 = 14.0;
const PITCH: f64 = 21.0;
/// The height of the bar for a wait downstream: it often overlaps the time that something is held, and
/// both have to be visible, in greyscale too.
const INSET: f64 = 8.0;
/// The least width of a bar: a lock held for a microsecond is held.
const LEAST: f64 = 1.6;
/// The height of a line of text, and of the text above the rows of a variant.
const LINE: f64 = 21.0;
const HEADING: f64 = 3.0 * LINE + 16.0;
/// Where the bars begin and end: the text on the left and on the right needs room.
const BARS: (f64, f64) = (112.0, 446.0);

#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub name: &'a str,
    pub spans: &'a Spans,
}

/// What the spans mean, by their names.
type Kinds = BTreeMap<String, SpanKind>;

/// Draws twelve consecutive requests of each server.
pub fn draw(slow: Side, fixed: Side, kinds: &Kinds) -> Markup {
    let (slow_story, fixed_story, length_us) = Story::of_both(slow.spans, fixed.spans, kinds);
    let stories = [(slow.name, &slow_story), (fixed.name, &fixed_story)];
    let (legend, below) = legend(kinds);
    let top = below + HEADING;
    let tops = [top, top + ROWS as f64 * PITCH + HEADING];
    let bottom = tops[1] + ROWS as f64 * PITCH;
    let scale = Scale { max: length_us / 1e3, start: BARS.0, end: BARS.1 };
    let title = format!("Timeline of requests, {} above {}", slow.name, fixed.name);
    let desc = stories.map(|(name, story)| heading(name, story, length_us)).join(". ");
    let body = html! {
        (legend)
        (time_axis(&scale, top - 4.0, bottom, 5))
        @for ((name, story), top) in stories.into_iter().zip(tops) {
            text class="head halo" x="0" y=(px(top - HEADING + LINE + 6.0)) { (heading(name, story, length_us)) }
            text class="halo" x="0" y=(px(top - HEADING + 2.0 * LINE + 6.0)) { (note(story, kinds)) }
            text class="muted halo" x="0" y=(px(top - HEADING + 3.0 * LINE + 6.0)) { (left_out(story)) }
            @for (index, request) in story.rows.iter().enumerate() {
                (row(request, index, story, &scale, top + index as f64 * PITCH))
            }
        }
    };
    figure(bottom + 24.0, &title, &desc, body)
}

/// What the bars and the times mean, and where the legend ends.
fn legend(kinds: &Kinds) -> (Markup, f64) {
    let mut kinds: Vec<_> = kinds.values().collect();
    kinds.sort_by_key(|kind| kind.role);
    let (mut x, mut y) = (0.0, 4.0);
    let mut entries = Vec::new();
    for SpanKind { label, role } in kinds {
        let width = 26.0 + figure_text_width(label);
        if x > 0.0 && x + width > FIGURE_WIDTH {
            (x, y) = (0.0, y + LINE);
        }
        entries.push(html! {
            (role_bar(*role, x + 1.0, x + 19.0, y))
            text x=(px(x + 26.0)) y=(px(y + 12.0)) { (label) }
        });
        x += width + 16.0;
    }
    let below = y + LINE;
    let times = html! {
        @for entry in entries { (entry) }
        text class="muted small" x="0" y=(px(below + 12.0)) {
            "Left of a bar: the wait before. Right: the whole request."
        }
    };
    (times, below + LINE)
}

/// The finding in one line of counts.
fn heading(name: &str, story: &Story, length_us: f64) -> String {
    if story.rows.is_empty() {
        return format!("{name}: no request was answered");
    }
    let at_once = match story.at_once {
        0 | 1 => "one at a time".to_owned(),
        many => format!("{} at once", thousands(many as f64)),
    };
    let (answered, length) = (thousands(story.answered as f64), time_ms(length_us / 1e3));
    format!("{name}: {at_once}, {answered} answers in {length}")
}

/// How a typical request holds what others wait for, and waits for another server: at the same time,
/// or one after the other.
fn note(story: &Story, kinds: &Kinds) -> String {
    let Some(request) = story.rows.get(story.rows.len() / 2) else { return String::new() };
    let label = |part: &Part| kinds.get(&part.name).map_or("", |kind| kind.label.as_str());
    match (request.first(Role::Held), request.first(Role::Downstream)) {
        (Some(held), Some(wait)) if held.end_us >= wait.end_us => {
            format!("each {} while it {}", label(held), label(wait))
        }
        (Some(held), Some(wait)) => format!("each {}, then {}", label(held), label(wait)),
        (Some(only), None) | (None, Some(only)) => format!("each {}", label(only)),
        (None, None) => String::new(),
    }
}

fn left_out(story: &Story) -> String {
    let least = if story.incomplete { "at least " } else { "" };
    format!("not drawn: {least}{} more open requests", thousands(story.not_drawn as f64))
}

fn row(request: &Request, index: usize, story: &Story, scale: &Scale, y: f64) -> Markup {
    let x = |us: u64| scale.at((us as f64 - story.begin_us) / 1e3);
    let end_us = request.end_us.unwrap_or(request.start_us);
    let waited_us = story.begin_us - request.start_us as f64;
    let base = y + BAR - 2.0;
    html! {
        text class="label" x="22" y=(px(base)) text-anchor="end" { (index + 1) }
        (bar("request", x(request.start_us), x(end_us), y + BAR / 2.0 - 0.5, 1.0))
        @for role in [Role::Wait, Role::Held, Role::Downstream] {
            @for part in request.parts.iter().filter(|part| part.role == Some(role)) {
                (role_bar(role, x(part.start_us), x(part.end_us), y))
            }
        }
        @if waited_us > 0.0 {
            (cut(scale.start, y))
            text class="waited muted" x=(px(scale.start - 13.0)) y=(px(base)) text-anchor="end" {
                (time_ms(waited_us / 1e3))
            }
        }
        text class="answer halo" x=(px(x(end_us) + 6.0)) y=(px(base)) {
            (time_ms(end_us.saturating_sub(request.start_us) as f64 / 1e3))
        }
    }
}

fn role_bar(role: Role, from: f64, to: f64, y: f64) -> Markup {
    match role {
        // Nothing to see of such a short wait.
        Role::Wait if to - from < LEAST => html! {},
        Role::Wait => bar("wait", from, to, y, BAR),
        Role::Held => bar("held", from, to.max(from + LEAST), y, BAR),
        Role::Downstream => {
            bar("downstream", from, to.max(from + LEAST), y + (BAR - INSET) / 2.0, INSET)
        }
    }
}

/// The mark of a bar that goes on to the left of the picture.
fn cut(x: f64, y: f64) -> Markup {
    let (near, far, middle, bottom) = (px(x - 3.0), px(x - 8.0), px(y + BAR / 2.0), px(y + BAR));
    let path = format!("M{near} {} L{far} {middle} L{near} {bottom}", px(y));
    html! { path class="cut" d=(path) {} }
}

#[cfg(test)]
mod tests;
