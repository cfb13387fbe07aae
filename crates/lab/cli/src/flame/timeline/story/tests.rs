use super::{super::super::example, *};

#[test]
fn slow_is_told_by_consecutive_holders_of_the_lock() {
    let (slow, fixed, length) = Story::of_both(&example::slow_spans(), &example::fixed_spans());
    assert_eq!((slow.rows.len(), fixed.rows.len()), (ROWS, ROWS));
    let starts: Vec<_> = slow.rows.iter().map(Request::under_way_us).collect();
    assert!(starts.windows(2).all(|pair| (45_000..57_000).contains(&(pair[1] - pair[0]))));
    // All of them fit into the window, and all but the last bit of it is used.
    let end = slow.rows[ROWS - 1].end_us.unwrap() as f64;
    assert!((end - slow.begin_us - length).abs() < 1.0, "{end} {slow:?} {length}");
    assert_eq!(slow.at_once, 1);
    assert_eq!(slow.answered, ROWS);
    assert!(fixed.at_once > 200 && fixed.answered > 2000, "{fixed:?}");
}

#[test]
fn a_window_ends_before_its_record_does() {
    let mut fixed = example::fixed_spans();
    fixed.now_us = fixed.spans.iter().filter_map(|span| span.end_us).max().unwrap();
    let (_, story, length) = Story::of_both(&example::slow_spans(), &fixed);
    assert!(story.begin_us + length <= fixed.now_us as f64);
}

#[test]
fn an_empty_record_has_an_empty_story() {
    let (slow, _, length) = Story::of_both(&Spans::default(), &Spans::default());
    assert!(slow.rows.is_empty());
    assert_eq!((slow.answered, slow.not_drawn, slow.at_once, length), (0, 0, 0, 0.0));
}
