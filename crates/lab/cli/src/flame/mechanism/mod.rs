//! What a fault does, counted: a pair of bars for each count, slow above fixed.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use crate::display::{NONE, factor, significant, thousands};
use crate::picture::{Canvas, bar, frame, px};

/// The counts of one variant.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The variant's name.
    pub variant: &'a str,
    /// By name, as in `upstream.tcp_connections`; each per whatever the picture is labelled with.
    pub counts: &'a BTreeMap<String, f64>,
}

/// What is shorter is drawn as wide as this, so that a small count differs from none.
const LEAST: f64 = 2.0;

/// Draws the counts of both variants. Every count has a scale of its own: the lengths of a pair
/// are compared, and those of two pairs are not.
pub fn draw(slow: Counted, fixed: Counted, per: &str, canvas: Canvas) -> Markup {
    let names: BTreeSet<_> = slow.counts.keys().chain(fixed.counts.keys()).collect();
    let (top, pitch) = canvas.pick((44.0, 56.0), (44.0, 74.0));
    let pairs = names.iter().map(|name| Pair {
        label: name.rsplit('.').next().unwrap_or(name).replace('_', " "),
        values: [&slow, &fixed]
            .map(|side| (side.variant.to_owned(), side.counts.get(*name).copied())),
    });
    let pairs: Vec<_> = pairs.collect();
    let title = format!("Counts {per}, {} and {}", slow.variant, fixed.variant);
    let desc: Vec<_> = pairs.iter().map(Pair::sentence).collect();
    let body = html! {
        text class="head" x="0" y="16" { (per) }
        text class="muted" x=(canvas.width()) y="16" text-anchor="end" {
            (canvas.pick("each pair on a scale of its own", "each pair its own scale"))
        }
        @for (index, pair) in pairs.iter().enumerate() {
            (pair.draw(canvas, top + index as f64 * pitch))
        }
    };
    let height = top + pairs.len().max(1) as f64 * pitch;
    frame(canvas, height, &title, &desc.join(". "), body)
}

/// A count of both variants.
struct Pair {
    label: String,
    values: [(String, Option<f64>); 2],
}

impl Pair {
    fn draw(&self, canvas: Canvas, top: f64) -> Markup {
        let most = self.values.iter().filter_map(|(_, value)| *value).fold(0.0, f64::max);
        // The names of counts stand beside their bars, or above them where there is no room.
        let (names, first, right) = canvas.pick((160.0, top, 860.0), (0.0, top + 20.0, 298.0));
        let variants = self.values.iter().map(|(variant, _)| canvas.text_width(variant));
        let left = names + variants.fold(0.0, f64::max) + 10.0;
        html! {
            text class="label" x="0" y=(px(canvas.pick(top + 14.0, top + 10.0))) { (self.label) }
            @if let Some(change) = self.change() {
                @let below = (0.0, top + 32.0, "start");
                @let (x, y, anchor) = canvas.pick(below, (canvas.width(), top + 10.0, "end"));
                text class="muted" x=(px(x)) y=(px(y)) text-anchor=(anchor) { (change) }
            }
            @for (index, (variant, value)) in self.values.iter().enumerate() {
                @let y = first + index as f64 * 21.0;
                @let length = length(value.unwrap_or(0.0), most, right - left);
                text class="variant muted" x=(px(left - 8.0)) y=(px(y + 12.5)) text-anchor="end" {
                    (variant)
                }
                @if length > 0.0 {
                    (bar(if index == 0 { "slow" } else { "fixed" }, left, left + length, y, 16.0))
                }
                text class="value" x=(px(left + length + 6.0)) y=(px(y + 12.5)) { (told(*value)) }
            }
        }
    }

    /// How many times fewer, where that can be told.
    fn change(&self) -> Option<String> {
        match [self.values[0].1?, self.values[1].1?] {
            [slow, fixed] if fixed > 0.0 && slow > fixed => {
                Some(format!("{} fewer", factor(slow / fixed)))
            }
            [slow, fixed] if slow > 0.0 && fixed > slow => {
                Some(format!("{} more", factor(fixed / slow)))
            }
            [slow, fixed] if slow > 0.0 && fixed == 0.0 => Some("none left".to_owned()),
            _ => None,
        }
    }

    fn sentence(&self) -> String {
        let [slow, fixed] =
            self.values.each_ref().map(|(variant, value)| format!("{variant} {}", told(*value)));
        format!("{}: {slow}, {fixed}", self.label)
    }
}

/// How long a bar is: none for nothing, and never too short to be seen for something.
fn length(value: f64, most: f64, room: f64) -> f64 {
    if value > 0.0 { (value / most * room).max(LEAST) } else { 0.0 }
}

/// A count as it is, without needless digits; what was not counted is not 0.
fn told(value: Option<f64>) -> String {
    match value {
        None => NONE.to_owned(),
        Some(value) if value.fract() == 0.0 => thousands(value),
        Some(value) => significant(value),
    }
}

#[cfg(test)]
mod tests;
