//! The throughput curve: what was measured at each level, and the law that was fitted to it.

use lab_display::{
    picture::{FIGURE_WIDTH, LogScale, figure, px, round},
    significant,
};
use lab_stats::Usl;
use maud::{Markup, html};

const LEFT: f64 = 76.0;
const TOP: f64 = 58.0;
const BOTTOM: f64 = 300.0;

/// Draws pairs of users and throughput on logarithmic axes, where scaling is a straight line.
pub fn draw(points: &[(f64, f64)], usl: Option<&Usl>) -> Markup {
    let right = FIGURE_WIDTH - 14.0;
    let across = LogScale::covering(points.iter().map(|(users, _)| *users), LEFT, right);
    let fitted: Vec<_> = usl.map_or(Vec::new(), |usl| curve(points, usl));
    let all = points.iter().chain(&fitted).map(|(_, rps)| *rps);
    let up = LogScale::covering(all, BOTTOM, TOP);
    let line: Vec<_> = fitted
        .iter()
        .map(|(users, rps)| format!("{},{}", px(across.at(*users)), px(up.at(*rps))))
        .collect();
    let law = usl.map_or("No law fits".to_owned(), |usl| {
        format!("Line: fitted law, σ {}, κ {}", significant(usl.sigma), short(usl.kappa))
    });
    let shown: Vec<_> = points
        .iter()
        .map(|(users, rps)| format!("{} with {}", significant(*rps), round(*users)))
        .collect();
    let desc = format!("Answers per second by users: {}. {law}.", shown.join(", "));
    let body = html! {
        text class="head" x="0" y="16" { "Answers per second, by users" }
        text class="small muted" x="0" y="40" { "Dots: measured. " (law) }
        @for tick in up.ticks() {
            line class="grid" x1=(px(LEFT)) x2=(px(right)) y1=(px(up.at(tick))) y2=(px(up.at(tick))) {}
            text class="tick small muted" x=(px(LEFT - 8.0)) y=(px(up.at(tick) + 5.0)) text-anchor="end" {
                (round(tick))
            }
        }
        line class="axis" x1=(px(LEFT)) x2=(px(right)) y1=(px(BOTTOM)) y2=(px(BOTTOM)) {}
        polyline class="line fixed" points=(line.join(" ")) {}
        @for (users, rps) in points {
            circle class="dot slow" cx=(px(across.at(*users))) cy=(px(up.at(*rps))) r="5" {}
            text class="tick small muted" x=(px(across.at(*users))) y=(px(BOTTOM + 19.0)) text-anchor="middle" {
                (round(*users))
            }
        }
        text class="small muted" x=(px((LEFT + right) / 2.0)) y=(px(BOTTOM + 40.0)) text-anchor="middle" {
            "users"
        }
    };
    figure(BOTTOM + 46.0, "Answers per second, by users", &desc, body)
}

/// Points of the law, close enough for a smooth line.
fn curve(points: &[(f64, f64)], usl: &Usl) -> Vec<(f64, f64)> {
    let last = points.last().map_or(1.0, |(users, _)| *users);
    let steps = 40;
    let users = (0..=steps).map(|step| last.powf(f64::from(step) / f64::from(steps)));
    users.map(|users| (users, usl.at(users))).collect()
}

/// `κ` is often tiny.
pub fn short(kappa: f64) -> String {
    if kappa < 5e-6 { "0".to_owned() } else { format!("{kappa:.5}") }
}

#[cfg(test)]
mod tests {
    use lab_display::picture::probe;

    use super::*;

    #[test]
    fn every_level_has_a_dot_and_the_picture_says_its_figures() {
        let points = [(1.0, 19.5), (2.0, 19.5), (4.0, 19.4), (8.0, 19.5)];
        let svg = draw(&points, Usl::fit(&points).as_ref()).into_string();
        let dots = probe::elements(&svg).into_iter().filter(|it| it.class() == "dot slow");
        assert_eq!(dots.count(), 4);
        assert!(svg.contains("19.4 with 4") && svg.contains("σ 1.00, κ 0"), "{svg}");
        probe::assert_nothing_overflows_a_figure(&svg);
    }
}
