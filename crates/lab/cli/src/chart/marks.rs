//! What stands for a measured value: a dot where it is estimated, and a line over its interval.

use maud::{Markup, html};

use crate::picture::px;

/// How far the ends of an interval reach to either side of it.
const CAP: f64 = 7.0;

/// A value on a horizontal axis with its interval.
pub fn across(class: &str, low: f64, at: f64, high: f64, y: f64) -> Markup {
    html! {
        (reach_across(class, low, high, y))
        (dot(class, at, y))
    }
}

/// An interval on a horizontal axis.
pub fn reach_across(class: &str, low: f64, high: f64, y: f64) -> Markup {
    let line = format!(
        "M{low} {top}V{bottom}M{low} {y}H{high}M{high} {top}V{bottom}",
        low = px(low),
        high = px(high),
        y = px(y),
        top = px(y - CAP),
        bottom = px(y + CAP)
    );
    html! {
        // It may lie on a bar of any colour.
        path class="casing" d=(line) {}
        path class={ "reach " (class) } d=(line) {}
    }
}

/// A value on a vertical axis with its interval.
pub fn upright(class: &str, x: f64, low: f64, at: f64, high: f64) -> Markup {
    let line = format!(
        "M{left} {low}H{right}M{x} {low}V{high}M{left} {high}H{right}",
        low = px(low),
        high = px(high),
        x = px(x),
        left = px(x - CAP),
        right = px(x + CAP)
    );
    html! {
        path class={ "reach " (class) } d=(line) {}
        (dot(class, x, at))
    }
}

/// A value without an interval. The shapes differ too, for those who do not see the colours: what is
/// slow is round, and what is fixed has corners.
pub fn dot(class: &str, x: f64, y: f64) -> Markup {
    let corners = format!("M{} {}l5.5 5.5 -5.5 5.5 -5.5 -5.5z", px(x), px(y - 5.5));
    html! {
        @match class {
            "fixed" => path class="dot fixed" d=(corners) {},
            _ => circle class={ "dot " (class) } cx=(px(x)) cy=(px(y)) r="4.5" {},
        }
    }
}

/// A sign that a value is a lower bound: the true one is somewhere above.
pub fn at_least(class: &str, x: f64, y: f64) -> Markup {
    let arrow = format!("M{} {}v-16m-5 6l5 -6 5 6", px(x), px(y));
    html! {
        path class={ "reach at-least " (class) } d=(arrow) {}
        (dot(class, x, y))
    }
}

/// A line through points.
pub fn line(class: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Markup {
    let points: Vec<_> = points.into_iter().map(|(x, y)| format!("{},{}", px(x), px(y))).collect();
    html! { polyline class={ "line " (class) } points=(points.join(" ")) {} }
}
