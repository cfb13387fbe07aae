//! The timeline of requests: what each waited for, on one time axis; of two servers, slow above fixed.
//!
//! A profiler shows an almost idle server here. The picture shows which request waits for which: slow is a
//! staircase, fixed is a wall.

mod excerpt;

use std::collections::BTreeMap;

use crate::svg::{FIGURE_WIDTH, Scale, bar, figure, fit, px, time_axis};
use lab_observation::{Spans, TracedRequest};
use lab_protocol::{Role, SpanKind};
use lab_report::{thousands, time_ms};
use maud::{Markup, html};

use self::excerpt::{Excerpt, ROWS};
use super::bars::{BAR, BarMark, LINE, legend};

/// The distance from one row to the next.
const PITCH: f64 = 21.0;
/// The height of the bar for a wait downstream: it often overlaps the time that something is held, and
/// both have to be visible, in greyscale too.
const INSET: f64 = 8.0;
/// The least width of a bar: a lock held for a microsecond is held.
const LEAST: f64 = 1.6;
/// How spans without roles are drawn. Those that take most time come first, because they contain others.
const BY_NAME: [(&str, f64); 4] =
    [("wait", BAR), ("downstream", 11.0), ("held", INSET), ("dot", 4.0)];
/// The height of the heading above the rows of a server; a note adds a line.
const HEADING: f64 = LINE + 16.0;
/// Where the bars begin and end: the text on the left and on the right needs room.
const BARS: (f64, f64) = (112.0, 446.0);

/// What the spans mean, by their names.
type Kinds = BTreeMap<String, SpanKind>;

/// The spans of one name, and how they are drawn.
type Style = (String, BarMark);

/// Draws twelve consecutive requests of each server.
pub fn draw(servers: &[(&str, &Spans)], kinds: &Kinds) -> Markup {
    let (names, spans): (Vec<_>, Vec<_>) = servers.iter().copied().unzip();
    let (excerpts, length_us) = Excerpt::of_all(&spans, kinds);
    let styles = if kinds.is_empty() { by_name(&excerpts) } else { by_role(kinds) };
    let (legend, end) = legend(styles.iter().map(|(_, mark)| mark));
    let words = if kinds.is_empty() {
        "Thin line: outside these spans. Right: the whole request."
    } else {
        "Left of a bar: the wait before. Right: the whole request."
    };
    let below = end + LINE;
    let above = HEADING + if kinds.is_empty() { LINE } else { 0.0 };
    let height = ROWS as f64 * PITCH + above;
    let tops = (0..servers.len()).map(|index| below + above + index as f64 * height);
    let (top, bottom) = (below + above, below + servers.len() as f64 * height);
    let scale = Scale { max: length_us / 1e3, start: BARS.0, end: BARS.1 };
    let title = format!("Timeline of requests, {}", names.join(" above "));
    let excerpts: Vec<_> = names.into_iter().zip(&excerpts).collect();
    let desc = excerpts.iter().map(|(name, excerpt)| heading(name, excerpt, length_us));
    let desc = desc.collect::<Vec<_>>().join(". ");
    let body = html! {
        (legend)
        text class="muted small" x="0" y=(px(end + 12.0)) { (words) }
        (time_axis(&scale, top - 4.0, bottom, 5))
        @for ((name, excerpt), top) in excerpts.into_iter().zip(tops) {
            text class="head halo" x="0" y=(px(top - above + LINE + 6.0)) { (heading(name, excerpt, length_us)) }
            @if let Some(note) = note(excerpt, &styles, kinds) {
                text class="halo" x="0" y=(px(top - above + 2.0 * LINE + 6.0)) { (note) }
            }
            @for (index, request) in excerpt.rows.iter().enumerate() {
                (row(request, index, excerpt, &styles, &scale, top + index as f64 * PITCH))
            }
        }
    };
    figure(bottom + 24.0, &title, &desc, body)
}

fn by_role(kinds: &Kinds) -> Vec<Style> {
    let mut kinds: Vec<_> = kinds.iter().collect();
    kinds.sort_by_key(|(_, kind)| kind.role);
    let style = |(name, SpanKind { label, role }): (&String, &SpanKind)| {
        let (class, height) = match role {
            Role::Wait => ("wait", BAR),
            Role::Held => ("held", BAR),
            Role::Downstream => ("downstream", INSET),
        };
        (name.clone(), BarMark { label: label.clone(), class, height })
    };
    kinds.into_iter().map(style).collect()
}

/// The spans that take most time in the requests that are drawn.
fn by_name(excerpts: &[Excerpt]) -> Vec<Style> {
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    let rows = excerpts.iter().flat_map(|excerpt| &excerpt.rows);
    for part in rows.flat_map(|request| &request.parts) {
        *times.entry(&part.name).or_default() += part.end_us.saturating_sub(part.start_us);
    }
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort_by_key(|(_, us)| std::cmp::Reverse(*us));
    let style = |((name, _), (class, height)): ((&str, u64), (&'static str, f64))| {
        let label = fit(name, FIGURE_WIDTH / 2.0 - 26.0);
        (name.to_owned(), BarMark { label, class, height })
    };
    times.into_iter().zip(BY_NAME).map(style).collect()
}

/// The finding in one line of counts.
fn heading(name: &str, excerpt: &Excerpt, length_us: f64) -> String {
    if excerpt.rows.is_empty() {
        return format!("{name}: no request was answered");
    }
    let at_once = match excerpt.at_once {
        0 | 1 => "one at a time".to_owned(),
        many => format!("{} at once", thousands(many as f64)),
    };
    let (answered, length) = (thousands(excerpt.answered as f64), time_ms(length_us / 1e3));
    format!("{name}: {at_once}, {answered} answers in {length}")
}

/// How many spans of each name were open at once. With roles, the bars and the heading show that, and what
/// follows from it is for the reader to find.
fn note(excerpt: &Excerpt, styles: &[Style], kinds: &Kinds) -> Option<String> {
    let most = styles
        .iter()
        .rev()
        .filter_map(|(name, _)| Some(format!("{name} {}", excerpt.parts_at_once.get(name)?)));
    let most = most.collect::<Vec<_>>().join(", ");
    kinds.is_empty().then(|| fit(&format!("at most at once: {most}"), FIGURE_WIDTH))
}

fn row(
    request: &TracedRequest,
    index: usize,
    excerpt: &Excerpt,
    styles: &[Style],
    scale: &Scale,
    y: f64,
) -> Markup {
    let x = |us: u64| scale.at((us as f64 - excerpt.begin_us) / 1e3);
    let end_us = request.end_us.unwrap_or(request.start_us);
    let waited_us = excerpt.begin_us - request.start_us as f64;
    let base = y + BAR - 2.0;
    html! {
        text class="label" x="22" y=(px(base)) text-anchor="end" { (index + 1) }
        (bar("request", x(request.start_us), x(end_us), y + BAR / 2.0 - 0.5, 1.0))
        @for (name, mark) in styles {
            @for part in request.parts.iter().filter(|part| part.name == *name) {
                (part_bar(mark, x(part.start_us), x(part.end_us), y))
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

fn part_bar(mark: &BarMark, from: f64, to: f64, y: f64) -> Markup {
    match mark.class {
        // Such a short wait would be invisible.
        "wait" if to - from < LEAST => html! {},
        "wait" => mark.bar(from, to, y),
        _ => mark.bar(from, to.max(from + LEAST), y),
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
