//! Visits of several kinds: which one an arrival makes, what it sends, and what becomes of it.

use std::{cell::RefCell, rc::Rc, time::Duration};

use lab_protocol::{Answer, Expected, LoadPlan, OpenLoop, Request, VisitEnd, VisitKind, Visits};
use tokio::time::sleep;

use super::{
    evenly,
    memory::{BREAKS_OFF, HANGS, Memory, SIX, by_path, silent},
    open_loop, outcome, plan,
};

const SEVEN: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n7";

/// A kind of visit whose alternatives have these paths. The right answer is always `6`.
pub fn kind(name: &str, weight: f64, alternatives: &[&[&str]]) -> VisitKind {
    let request = |path: &&str| Request::get(path, Answer::Text("6".to_owned()));
    let alternatives =
        alternatives.iter().map(|paths| paths.iter().map(request).collect()).collect();
    VisitKind { name: name.to_owned(), weight, alternatives }
}

/// With the lengths of every plan here.
pub fn plan_of(visits: Vec<VisitKind>, load: OpenLoop) -> LoadPlan {
    let usual = plan(open_loop(1.0, 1));
    let LoadPlan { warm_up, measurement, grace, server_pid, .. } = usual;
    let plan = LoadPlan::of_visits(usual.target, visits, load);
    LoadPlan { warm_up, measurement, grace, server_pid, ..plan }
}

/// Answers each request in 10 ms with what `answer` says. Also returns the paths, in their order.
fn logging(
    answer: impl Fn(usize, &str) -> &'static [u8] + 'static,
) -> (Memory, Rc<RefCell<Vec<String>>>) {
    let paths = Rc::new(RefCell::new(Vec::new()));
    let log = paths.clone();
    let server = by_path(async move |path| {
        log.borrow_mut().push(path.to_owned());
        let answer = answer(log.borrow().len(), path);
        sleep(Duration::from_millis(10)).await;
        answer
    });
    (server, paths)
}

async fn visits(plan: &LoadPlan, server: Memory) -> Visits {
    outcome(plan, server).await.visits.unwrap()
}

#[tokio::test(start_paused = true)]
async fn kinds_are_drawn_by_weight() {
    let kinds = vec![kind("often", 30.0, &[&["/"]]), kind("rarely", 10.0, &[&["/"]])];
    let plan = plan_of(kinds, OpenLoop::new(1000.0, 64));
    let drawn = visits(&plan, logging(|_, _| SIX).0).await.kind;
    let rarely = drawn.iter().filter(|kind| **kind == 1).count() as f64 / drawn.len() as f64;
    // 5,000 visits, with a standard deviation of 0.6 %.
    assert!((rarely - 0.25).abs() < 0.025, "{rarely}");
}

#[tokio::test(start_paused = true)]
async fn the_draw_does_not_depend_on_the_server() {
    let kinds = vec![kind("a", 1.0, &[&["/"]]), kind("b", 1.0, &[&["/"]])];
    let plan = plan_of(kinds, OpenLoop::new(100.0, 4));
    let answered = visits(&plan, logging(|_, _| SIX).0).await;
    let silent = visits(&plan, silent()).await;
    assert_eq!((answered.kind, answered.due_us), (silent.kind, silent.due_us));
}

/// Every third `/b` is wrong. The latencies show that the requests of a visit do not overlap.
#[tokio::test(start_paused = true)]
async fn a_visit_sends_its_requests_in_order_and_stops_at_the_first_fault() {
    let asked = RefCell::new(0);
    let (server, paths) = logging(move |_, path| {
        *asked.borrow_mut() += usize::from(path == "/b");
        if path == "/b" && asked.borrow().is_multiple_of(3) { SEVEN } else { SIX }
    });
    let plan = plan_of(vec![kind("browse", 1.0, &[&["/a", "/b", "/c"]])], evenly(10.0, 4));
    let outcome = outcome(&plan, server).await;
    // Three of the ten visits of the warm-up are wrong, and 17 of the 50 that count.
    assert_eq!((outcome.sent, outcome.ok, outcome.wrong), (53, 33, 20));
    let visits = outcome.visits.unwrap();
    assert_eq!(visits.kind, [0; 50]);
    for (row, (latency_us, answer)) in visits.latency_us.iter().zip(&visits.answer).enumerate() {
        let expected = match (row + 10) % 3 {
            2 => (20_000, VisitEnd::Wrong),
            _ => (30_000, VisitEnd::Right),
        };
        assert_eq!((*latency_us, *answer), expected, "visit {row}");
        assert_eq!(visits.due_us[row], 100_000 * row as u64);
    }
    assert_eq!(paths.borrow()[..9].concat(), "/a/b/c/a/b/c/a/b/a");
    let fault = outcome.first_fault.unwrap();
    assert_eq!(fault, "visit `browse`: GET /b: `7` instead of `6`");
}

#[tokio::test(start_paused = true)]
async fn the_alternatives_of_each_kind_are_used_in_turn() {
    let kinds = vec![
        kind("read", 1.0, &[&["/r0"], &["/r1"], &["/r2"]]),
        kind("write", 1.0, &[&["/w0"], &["/w1"]]),
    ];
    let (server, paths) = logging(|_, _| SIX);
    outcome(&plan_of(kinds, evenly(50.0, 64)), server).await;
    let paths = paths.borrow();
    assert_eq!(paths.len(), 300);
    for (prefix, turn) in [("/r", &["/r0", "/r1", "/r2"][..]), ("/w", &["/w0", "/w1"])] {
        let of_kind: Vec<_> = paths.iter().filter(|path| path.starts_with(prefix)).collect();
        assert!(of_kind.len() > 100, "{}", of_kind.len());
        assert!(of_kind.iter().zip(turn.iter().cycle()).all(|(found, right)| found == right));
    }
}

/// The second request of a visit has two right answers, and every other visit gets the second one.
#[tokio::test(start_paused = true)]
async fn a_visit_with_a_second_right_answer_is_right_too() {
    let (server, _) = logging(|nth, _| if nth.is_multiple_of(4) { SEVEN } else { SIX });
    let mut kind = kind("status", 1.0, &[&["/a", "/b"]]);
    let expected = &mut kind.alternatives[0][1].expected;
    *expected = Expected { or: Some(Answer::Text("7".to_owned())), ..expected.clone() };
    let mut plan = plan_of(vec![kind], evenly(10.0, 4));
    let outcome = outcome(&plan, server).await;
    assert_eq!((outcome.sent, outcome.ok), (50, 50));
    let pairs = [VisitEnd::Right, VisitEnd::Other].repeat(25);
    assert_eq!(outcome.visits.unwrap().answer, pairs);

    // Without visits, too.
    let requests = plan.visits.remove(0).alternatives.remove(0).split_off(1);
    let closed = LoadPlan { requests, ..super::plan(super::closed_loop(1)) };
    let outcome =
        super::outcome(&closed, logging(|nth, _| if nth % 2 == 0 { SEVEN } else { SIX }).0).await;
    assert_eq!((outcome.ok, outcome.wrong), (outcome.sent, 0));
}

/// In the measurement, one answer breaks off and one never ends.
#[tokio::test(start_paused = true)]
async fn failed_and_unfinished_visits_have_rows() {
    let (server, _) = logging(|nth, _| match nth {
        13 => BREAKS_OFF,
        15 => HANGS,
        _ => SIX,
    });
    let plan = plan_of(vec![kind("a", 1.0, &[&["/"]])], evenly(10.0, 4));
    let outcome = outcome(&plan, server).await;
    assert_eq!((outcome.failed, outcome.unfinished), (1, 1));
    let visits = outcome.visits.unwrap();
    let right = visits.answer.iter().filter(|it| **it == VisitEnd::Right).count();
    let ends = [visits.answer[2], visits.answer[4]];
    assert_eq!((ends, right), ([VisitEnd::Failed, VisitEnd::Unfinished], 48));
    // It was due after 0.4 of 5 s, and grace is 1 s more.
    let age_us = visits.latency_us[4];
    assert!((5_600_000..5_610_000).contains(&age_us), "{age_us}");
}

#[tokio::test]
async fn a_plan_whose_requests_are_invalid_is_refused() {
    let plan = plan_of(vec![kind("a", 1.0, &[&["/a b"]])], evenly(10.0, 4));
    let error = super::run_over(&plan, silent(), || super::Alarm::Ticks).await.unwrap_err();
    assert!(error.to_string().contains("`GET /a b` is not a valid request"), "{error}");
}
