use super::{super::spans::Part, *};

fn request(end_us: u64, parts: &[(Kind, u64, u64)]) -> Request {
    let part = |&(kind, start_us, end_us): &_| Part { kind, start_us, end_us };
    Request { start_us: 0, end_us: Some(end_us), parts: parts.iter().map(part).collect() }
}

fn text(request: &Request) -> String {
    own_times(request).into_iter().collect::<Folded>().to_string()
}

#[test]
fn what_lies_within_another_in_time_is_drawn_on_top_of_it_and_counted_once() {
    use Kind::{DownstreamWait, LockHeld, LockWait};
    let slow = [(LockWait, 0, 900), (LockHeld, 900, 990), (DownstreamWait, 905, 985)];
    assert_eq!(
        text(&request(1000, &slow)),
        "request 10\nrequest;lock held 10\nrequest;lock held;downstream wait 80\n\
         request;lock wait 900\n"
    );
    let fixed = [(LockWait, 0, 1), (LockHeld, 1, 3), (DownstreamWait, 3, 83)];
    assert_eq!(
        text(&request(90, &fixed)),
        "request 7\nrequest;downstream wait 80\nrequest;lock held 2\nrequest;lock wait 1\n"
    );
}

#[test]
fn overlaps_by_a_grain_of_the_clock_add_up_to_the_request() {
    use Kind::{DownstreamWait, LockHeld};
    let odd = request(100, &[(LockHeld, 10, 50), (DownstreamWait, 40, 101)]);
    assert_eq!(own_times(&odd).iter().map(|(_, us)| us).sum::<u64>(), 100);
}

#[test]
fn the_mean_is_of_answered_requests_and_the_caption_names_the_others() {
    let spans: Spans = serde_json::from_str(
        r#"{ "dropped": 0, "now_us": 9000000, "spans": [
            { "id": 1, "parent": null, "name": "request", "start_us": 0, "end_us": 3000 },
            { "id": 2, "parent": 1, "name": "lock wait", "start_us": 0, "end_us": 2000 },
            { "id": 3, "parent": null, "name": "request", "start_us": 0, "end_us": 1000 },
            { "id": 4, "parent": null, "name": "request", "start_us": 500000, "end_us": null }
        ] }"#,
    )
    .unwrap();
    let waits = Waits::of(&spans);
    assert_eq!(waits.folded.to_string(), "request 1000000\nrequest;lock wait 1000000\n");
    let table = waits.table("slow");
    assert!(table.caption.contains("2 answered requests"), "{}", table.caption);
    assert!(
        table.caption.contains("1 more still waited for their answer, one for 8.50 s"),
        "{table:?}"
    );
    assert_eq!(table.rows[1], ["lock wait", "1.00 ms", "50.0 %"]);
}

#[test]
fn a_mean_is_not_called_too_low_for_requests_that_are_merely_under_way() {
    let (slow, fixed) = (super::super::example::slow_spans(), super::super::example::fixed_spans());
    assert!(Waits::of(&slow).table("slow").caption.ends_with("so it is too low."));
    assert!(
        Waits::of(&fixed)
            .table("fixed")
            .caption
            .ends_with("280 more still waited for their answer.")
    );
}

#[test]
fn a_record_without_an_answer_has_no_stacks() {
    assert!(Waits::of(&Spans::default()).folded.is_empty());
}
