use super::{super::example, *};

#[test]
fn both_servers_have_numbered_rows_with_the_wait_of_each_request() {
    let (slow, fixed) = (example::slow_spans(), example::fixed_spans());
    let svg = draw(&[("slow", &slow), ("<fixed>", &fixed)], &example::kinds()).into_string();
    assert!(svg.contains("slow: one at a time, 12 answers in"));
    assert!(svg.contains("&lt;fixed&gt;: ") && !svg.contains("<fixed>"));
    for row in 1..=ROWS {
        assert_eq!(svg.matches(&format!(">{row}</text>")).count(), 2, "{row}");
    }
    // Only requests of slow began before the window.
    assert_eq!(svg.matches("class=\"waited muted\"").count(), ROWS);
    // That one of them waits with the lock is what the reader finds out.
    assert!(!svg.contains("while it waits") && !svg.contains("at most at once"));
}

#[test]
fn a_record_without_answers_says_so() {
    let spans = Spans::default();
    let svg = draw(&[("slow", &spans); 2], &example::kinds()).into_string();
    assert!(svg.contains("slow: no request was answered"));
}

#[test]
fn spans_without_roles_are_named() {
    let spans = example::slow_spans();
    let svg = draw(&[("server", &spans)], &Kinds::new()).into_string();
    assert!(svg.contains(">lock wait<") && svg.contains(">downstream wait<"), "{svg}");
    assert!(svg.contains("at most at once: downstream wait 1, lock held 1, lock wai"), "{svg}");
}
