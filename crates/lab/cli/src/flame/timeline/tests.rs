use super::{super::example, *};
use crate::picture::probe::{Element, assert_nothing_overflows, elements};

fn drawn(canvas: Canvas) -> String {
    let (slow, fixed) = (example::slow_spans(), example::fixed_spans());
    let side = |variant, spans| Side { variant, spans };
    draw(side("slow", &slow), side("<fixed>", &fixed), canvas).into_string()
}

fn of_class(svg: &str, class: &str) -> Vec<Element> {
    elements(svg).into_iter().filter(|element| element.class() == class).collect()
}

/// The bars of a class without the sample in the key, the upper half's and the lower half's.
fn bars(svg: &str, class: &str) -> (Vec<Element>, Vec<Element>) {
    let heads = of_class(svg, "head halo");
    let bars = of_class(svg, class).into_iter().skip(1);
    bars.partition(|bar| bar.number("y") < heads[1].number("y"))
}

#[test]
fn nothing_lies_outside_of_the_picture() {
    for canvas in [Canvas::Wide, Canvas::Narrow] {
        assert_nothing_overflows(&drawn(canvas), canvas);
    }
}

#[test]
fn slow_is_a_staircase_and_fixed_is_a_wall() {
    for canvas in [Canvas::Wide, Canvas::Narrow] {
        let svg = drawn(canvas);
        let (slow, fixed) = bars(&svg, "downstream-wait");
        assert_eq!((slow.len(), fixed.len()), (ROWS, ROWS));
        let right = |bar: &Element| bar.number("x") + bar.number("width");
        for pair in slow.windows(2) {
            // Coordinates are rounded to a tenth.
            assert!(pair[1].number("x") + 0.2 >= right(&pair[0]), "{pair:?}");
        }
        let last_begin = fixed.iter().map(|bar| bar.number("x")).fold(0.0, f64::max);
        assert!(fixed.iter().all(|bar| right(bar) > last_begin), "{fixed:?}");
    }
}

#[test]
fn the_wait_for_another_server_lies_within_the_lock_in_slow_and_after_it_in_fixed() {
    let svg = drawn(Canvas::Wide);
    let ((slow_lock, fixed_lock), (slow, fixed)) =
        (bars(&svg, "lock-held"), bars(&svg, "downstream-wait"));
    for (lock, wait) in slow_lock.iter().zip(&slow) {
        assert!(
            lock.number("x") <= wait.number("x") && lock.number("height") > wait.number("height")
        );
        assert!(lock.number("width") + 0.2 >= wait.number("width"));
    }
    assert!(
        fixed_lock
            .iter()
            .zip(&fixed)
            .all(|(lock, wait)| lock.number("width") < wait.number("width"))
    );
    assert!(svg.contains("holds the lock while it waits"));
    assert!(svg.contains("the lock is free"));
}

#[test]
fn both_halves_have_one_time_axis() {
    // Fifty milliseconds are as wide above as below: nothing else would be a comparison.
    let (slow, fixed) = bars(&drawn(Canvas::Wide), "downstream-wait");
    let widths = || slow.iter().chain(&fixed).map(|bar| bar.number("width"));
    let (least, most) = (widths().fold(f64::MAX, f64::min), widths().fold(0.0, f64::max));
    assert!(most - least < 0.05 * most, "{least}–{most}");
    assert_eq!(slow[0].number("x").round(), fixed[0].number("x").round());
}

#[test]
fn every_row_has_its_label_and_says_how_long_it_waited_before() {
    let svg = drawn(Canvas::Wide);
    let labels = of_class(&svg, "label");
    let numbers: Vec<_> = labels.into_iter().map(|label| label.text).collect();
    let expected: Vec<_> = (1..=ROWS).chain(1..=ROWS).map(|row| row.to_string()).collect();
    assert_eq!(numbers, expected);
    let waited = of_class(&svg, "waited muted");
    assert!(waited.iter().all(|waited| waited.text.starts_with("waiting for 4.9")), "{waited:?}");
    assert_eq!(waited.len(), ROWS, "only those of slow began before the window");
    assert_eq!(of_class(&svg, "on-bar").len(), 1, "and only they have a bar of waiting to name");
    assert_eq!(of_class(&svg, "cut").len(), ROWS);
}

#[test]
fn it_says_what_it_leaves_out_and_escapes_names() {
    let svg = drawn(Canvas::Wide);
    assert!(svg.contains("slow: one at a time, 12 answers in"));
    // Of 3,000 users 96 had their answer before, and 12 are drawn.
    assert!(svg.contains("2,892 more were open"));
    assert!(svg.contains("&lt;fixed&gt;: up to ") && !svg.contains("<fixed>"));
}

#[test]
fn a_record_without_answers_says_so() {
    let spans = Spans::default();
    let side = Side { variant: "slow", spans: &spans };
    let svg = draw(side, side, Canvas::Wide).into_string();
    assert!(svg.contains("slow: no request was answered"));
    assert_nothing_overflows(&svg, Canvas::Wide);
}
