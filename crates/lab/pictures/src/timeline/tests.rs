use crate::probe::{Element, assert_nothing_overflows_a_figure, elements};

use super::{super::example, *};

fn drawn() -> String {
    let (slow, fixed) = (example::slow_spans(), example::fixed_spans());
    let side = |name, spans| Side { name, spans };
    draw(&[side("slow", &slow), side("<fixed>", &fixed)], &example::kinds()).into_string()
}

fn of_class(svg: &str, class: &str) -> Vec<Element> {
    elements(svg).into_iter().filter(|element| element.class() == class).collect()
}

/// The bars of a class in the upper and in the lower half, without the one in the legend.
fn bars(svg: &str, class: &str) -> (Vec<Element>, Vec<Element>) {
    let heads = of_class(svg, "head halo");
    let bars = of_class(svg, class).into_iter().skip(1);
    bars.partition(|bar| bar.number("y") < heads[1].number("y"))
}

#[test]
fn slow_is_a_staircase_and_fixed_is_a_wall_on_one_axis() {
    let (slow, fixed) = bars(&drawn(), "downstream");
    assert_eq!((slow.len(), fixed.len()), (ROWS, ROWS));
    let right = |bar: &Element| bar.number("x") + bar.number("width");
    for pair in slow.windows(2) {
        // Coordinates are rounded to a tenth.
        assert!(pair[1].number("x") + 0.2 >= right(&pair[0]), "{pair:?}");
    }
    let last_begin = fixed.iter().map(|bar| bar.number("x")).fold(0.0, f64::max);
    assert!(fixed.iter().all(|bar| right(bar) > last_begin), "{fixed:?}");
    // All of them wait for 51 to 52 ms.
    let widths = || slow.iter().chain(&fixed).map(|bar| bar.number("width"));
    let (least, most) = (widths().fold(f64::MAX, f64::min), widths().fold(0.0, f64::max));
    assert!(most - least < 0.05 * most, "{least}–{most}");
}

#[test]
fn the_wait_downstream_lies_on_the_lock_in_slow_and_after_it_in_fixed() {
    let svg = drawn();
    let (slow_lock, fixed_lock) = bars(&svg, "held");
    let (slow, fixed) = bars(&svg, "downstream");
    for (lock, wait) in slow_lock.iter().zip(&slow) {
        assert!(lock.number("x") <= wait.number("x"));
        assert!(lock.number("height") > wait.number("height"));
        assert!(lock.number("width") + 0.2 >= wait.number("width"));
    }
    let narrower = |(lock, wait): (&Element, &Element)| lock.number("width") < wait.number("width");
    assert!(fixed_lock.iter().zip(&fixed).all(narrower));
    assert!(svg.contains("each holds the lock while it waits for another server"));
    assert!(svg.contains("each holds the lock, then waits for another server"));
}

#[test]
fn every_row_has_a_number_and_shows_how_long_it_waited_before() {
    let svg = drawn();
    let numbers: Vec<_> = of_class(&svg, "label").into_iter().map(|label| label.text).collect();
    let expected: Vec<_> = (1..=ROWS).chain(1..=ROWS).map(|row| row.to_string()).collect();
    assert_eq!(numbers, expected);
    let waited = of_class(&svg, "waited muted");
    assert!(waited.iter().all(|waited| waited.text.starts_with("3.")), "{waited:?}");
    assert_eq!(waited.len(), ROWS, "only those of slow began before the window");
    assert_eq!(of_class(&svg, "cut").len(), ROWS);
}

#[test]
fn it_says_what_it_leaves_out_escapes_names_and_overflows_nothing() {
    let svg = drawn();
    assert_nothing_overflows_a_figure(&svg);
    assert!(svg.contains("slow: one at a time, 12 answers in"));
    // Of 3,000 users, 64 had their answer before and 12 are drawn.
    assert!(svg.contains("2,924 more open requests"));
    assert!(svg.contains("&lt;fixed&gt;: ") && !svg.contains("<fixed>"));
}

#[test]
fn a_record_without_answers_says_so() {
    let spans = Spans::default();
    let side = Side { name: "slow", spans: &spans };
    let svg = draw(&[side, side], &example::kinds()).into_string();
    assert!(svg.contains("slow: no request was answered"));
    assert_nothing_overflows_a_figure(&svg);
}

#[test]
fn spans_without_roles_are_named_and_one_server_is_enough() {
    let spans = example::slow_spans();
    let svg = draw(&[Side { name: "server", spans: &spans }], &Kinds::new()).into_string();
    assert_nothing_overflows_a_figure(&svg);
    assert!(svg.contains(">lock wait<") && svg.contains(">downstream wait<"), "{svg}");
    assert!(svg.contains("at most at once: downstream wait 1, lock held 1, lock wai"), "{svg}");
    // The lock is held for longer than the wait downstream, which is drawn on top of it.
    let height = |class: &str| of_class(&svg, class)[1].number("height");
    assert!(height("downstream") > height("held"));
    assert_eq!(of_class(&svg, "downstream").len(), 1 + ROWS);
}
