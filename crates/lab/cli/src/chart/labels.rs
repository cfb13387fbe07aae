//! Names at the ends of lines: each beside its own, moved apart where they would lie on each other.

use maud::{Markup, html};

use crate::picture::px;

/// The name of a line that ends at `(x, y)`.
#[derive(Clone, Debug)]
pub struct Label {
    pub text: String,
    pub x: f64,
    pub y: f64,
}

/// How far the lines of two texts are apart at least.
const PITCH: f64 = 20.0;

/// Draws the names from `left` on, between `top` and `bottom`, tied to their lines' ends.
pub fn draw(labels: &[Label], left: f64, (top, bottom): (f64, f64)) -> Markup {
    let heights: Vec<_> = labels.iter().map(|label| label.y).collect();
    html! {
        @for (label, y) in labels.iter().zip(places(&heights, top, bottom)) {
            @let line = format!(
                "M{} {}L{} {}H{}",
                px(label.x + 7.0), px(label.y), px(left - 14.0), px(y), px(left - 4.0)
            );
            path class="leader" d=(line) {}
            text class="name" x=(px(left)) y=(px(y + 5.0)) { (label.text) }
        }
    }
}

/// Places near the wished ones, in their order, and far enough from each other.
fn places(wished: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<_> = (0..wished.len()).collect();
    order.sort_by(|one, other| wished[*one].total_cmp(&wished[*other]));
    let mut places = wished.to_vec();
    let mut next = top;
    for index in &order {
        places[*index] = places[*index].max(next);
        next = places[*index] + PITCH;
    }
    // Those that were pushed out at the bottom push the others back up.
    let mut last = bottom;
    for index in order.iter().rev() {
        places[*index] = places[*index].min(last);
        last = places[*index] - PITCH;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_and_do_not_lie_on_each_other() {
        assert_eq!(places(&[50.0, 10.0, 52.0], 0.0, 200.0), [50.0, 10.0, 70.0]);
        assert_eq!(places(&[198.0, 199.0, 200.0], 0.0, 200.0), [160.0, 180.0, 200.0]);
    }
}
