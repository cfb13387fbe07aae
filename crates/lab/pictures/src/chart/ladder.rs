//! The states of a service one after the other, each with its score: the median run, from the lowest to the highest.

use lab_report::{factor, join};
use maud::html;

use super::{Chart, parts};
use crate::svg::{FIGURE_WIDTH, Scale, bar, fit, px, round};

/// The distance from one state to the next.
const PITCH: f64 = 46.0;
const TOP: f64 = 52.0;
const RIGHT: f64 = FIGURE_WIDTH - 30.0;

/// A state of a service.
#[derive(Clone, Debug)]
pub struct LadderRow {
    /// What was changed.
    pub name: String,
    /// Visits per second: the median run, the lowest and the highest.
    pub score: [f64; 3],
}

/// All states, from the first.
pub fn ladder(rows: &[LadderRow]) -> Chart {
    let most = rows.iter().map(|row| row.score[2]).fold(0.0, f64::max);
    let scale = Scale { max: most, start: 6.0, end: RIGHT };
    let bottom = TOP + rows.len() as f64 * PITCH;
    let ticks = scale.ticks(4).into_iter().map(|it| (scale.at(it), round(it)));
    let over = |nth: usize| Some(rows[nth].score[0] / rows.get(nth.checked_sub(1)?)?.score[0]);
    let title = "Visits per second, right and within their objectives";
    let last = rows.len().saturating_sub(1);
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        text class="muted" x="0" y="38" { "Bar: the median run; line: the lowest to the highest" }
        (parts::axis_below(ticks, "visits per second", (scale.start, RIGHT), (TOP, bottom)))
        @for (nth, row) in rows.iter().enumerate() {
            @let top = TOP + nth as f64 * PITCH;
            @let [score, low, high] = row.score;
            @let class = if nth == 0 { "slow" } else if nth == last { "fixed" } else { "step" };
            text class="value halo" x="0" y=(px(top + 16.0)) {
                tspan class="name-of" { (nth) " " (fit(&row.name, FIGURE_WIDTH - 220.0)) }
                tspan { " " (round(score)) }
            }
            @if let Some(over) = over(nth) {
                text class="muted halo" x=(FIGURE_WIDTH) y=(px(top + 16.0)) text-anchor="end" { (factor(over)) }
            }
            (bar(&format!("bar {class}"), scale.start, scale.at(score), top + 22.0, 14.0))
            (parts::interval_across(scale.at(low), scale.at(high), top + 29.0))
        }
    };
    let sentence: Vec<_> =
        rows.iter().map(|it| format!("{} {}", it.name, round(it.score[0]))).collect();
    let alt = format!("{title}, after each change: {}.", join(&sentence));
    Chart::new(bottom + parts::BELOW, title, alt, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_a_bar_its_score_and_the_factor_over_the_one_before() {
        let row = |name: &str, at: f64| LadderRow {
            name: name.to_owned(),
            score: [at, at - 5.0, at + 9.0],
        };
        let chart = ladder(&[row("as it was", 340.0), row("db.rs: an index", 510.0)]);
        assert!(
            chart.alt.ends_with("after each change: as it was 340 and db.rs: an index 510."),
            "{}",
            chart.alt
        );
        assert_eq!(chart.svg.matches("class=\"bar ").count(), 2, "{}", chart.svg);
        assert!(chart.svg.contains("1.50×") && !chart.svg.contains("NaN"), "{}", chart.svg);
    }
}
