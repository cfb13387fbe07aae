//! A request as a row of the timeline.

use maud::{Markup, html};

use super::{
    super::spans::{Kind, Part, Request},
    Layout, Story, bar, px, time_ms,
};

/// How high a bar is.
const BAR: f64 = 13.0;

/// How high the wait for another server is: it often lies within the time that the lock is held,
/// and both have to be seen, in greyscale too.
const INSET: f64 = 7.0;

/// What is shorter is drawn as wide as this: a lock that is held for a microsecond is held.
const LEAST: f64 = 1.6;

/// A sample of a bar, for the key.
pub fn sample(class: &str, x: f64, y: f64) -> Markup {
    let inset = if class == "downstream-wait" { (BAR - INSET) / 2.0 } else { 0.0 };
    bar(class, x, x + 18.0, y + inset, BAR - 2.0 * inset)
}

/// Draws a request; the one that is explained has a note of what it does.
pub fn draw(
    request: &Request,
    index: usize,
    story: &Story,
    layout: &Layout,
    y: f64,
    explained: bool,
) -> Markup {
    let x = |us: u64| layout.scale.at((us as f64 - story.begin_us) / 1e3);
    let end_us = request.end_us.unwrap_or(request.start_us);
    let waited_us = story.begin_us - request.start_us as f64;
    let base = y + BAR - 3.0;
    html! {
        g class="row" {
            text class="label" x="18" y=(px(base)) text-anchor="end" { (index + 1) }
            (bar("request", x(request.start_us), x(end_us), y + BAR / 2.0 - 0.5, 1.0))
            @for kind in [Kind::LockWait, Kind::LockHeld, Kind::DownstreamWait] {
                @for part in request.parts.iter().filter(|part| part.kind == kind) {
                    (part_bar(part, x(part.start_us), x(part.end_us), y))
                }
            }
            @if waited_us > 0.0 {
                (cut(layout.scale.start, y))
                text class="waited muted" x=(px(layout.scale.start - 13.0)) y=(px(base)) text-anchor="end" {
                    (waited(waited_us, layout))
                }
            }
            text class="answer halo" x=(px(x(end_us) + 6.0)) y=(px(base)) {
                (answered(request, end_us, layout))
                @if explained { tspan class="muted" { " · " (note(request, layout)) } }
            }
        }
    }
}

fn part_bar(part: &Part, from: f64, to: f64, y: f64) -> Markup {
    match part.kind {
        // No wait is drawn where there was none to speak of.
        Kind::LockWait if to - from < LEAST => html! {},
        Kind::LockWait => bar("lock-wait", from, to, y, BAR),
        Kind::DownstreamWait => {
            bar("downstream-wait", from, to.max(from + LEAST), y + (BAR - INSET) / 2.0, INSET)
        }
        _ => bar("lock-held", from, to.max(from + LEAST), y, BAR),
    }
}

/// Names the wait for the lock on its bar, if there is room.
pub fn name_of_wait(request: &Request, story: &Story, layout: &Layout, y: f64) -> Markup {
    let name = "waits for the lock";
    let x = |us: u64| layout.scale.at((us as f64 - story.begin_us) / 1e3);
    let wait = request.first(Kind::LockWait).map(|wait| (x(wait.start_us), x(wait.end_us)));
    let room = wait.filter(|(from, to)| to - from > layout.canvas.text_width(name) + 12.0);
    html! {
        @if let Some((from, _)) = room {
            text class="on-bar" x=(px(from + 6.0)) y=(px(y + BAR - 3.0)) { (name) }
        }
    }
}

/// A mark where a bar goes on to the left of the picture.
fn cut(x: f64, y: f64) -> Markup {
    let (x, middle) = (px(x), y + BAR / 2.0);
    let path = format!(
        "M{} {} L{} {} L{} {}",
        x - 3.0,
        px(y),
        px(x - 8.0),
        px(middle),
        x - 3.0,
        px(y + BAR)
    );
    html! { path class="cut" d=(path) {} }
}

/// For how long it had waited already when the window began.
fn waited(us: f64, layout: &Layout) -> String {
    let time = time_ms(us / 1e3);
    layout.canvas.pick(format!("waiting for {time}"), time)
}

fn answered(request: &Request, end_us: u64, layout: &Layout) -> String {
    let time = time_ms(end_us.saturating_sub(request.start_us) as f64 / 1e3);
    layout.canvas.pick(format!("after {time}"), time)
}

/// What a request does while it waits for the other server.
fn note(request: &Request, layout: &Layout) -> &'static str {
    let within = |wait: &Part| {
        let holds = |part: &&Part| part.kind == Kind::LockHeld && part.end_us >= wait.end_us;
        request.parts.iter().find(holds).is_some_and(|held| held.start_us <= wait.start_us)
    };
    match request.first(Kind::DownstreamWait) {
        Some(wait) if within(wait) => {
            layout.canvas.pick("holds the lock while it waits for another server", "holds the lock")
        }
        Some(_) => {
            layout.canvas.pick("waits for another server, and the lock is free", "the lock is free")
        }
        None => "",
    }
}
