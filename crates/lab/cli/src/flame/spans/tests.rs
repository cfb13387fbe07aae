use super::*;

fn read(json: &str) -> Spans {
    serde_json::from_str(json).unwrap()
}

#[test]
fn parts_come_to_their_request_through_any_number_of_parents() {
    let spans = read(
        r#"{ "dropped": 3, "now_us": 90, "spans": [
            { "id": 1, "parent": null, "name": "request", "start_us": 10, "end_us": 80 },
            { "id": 2, "parent": 1, "name": "lock held", "start_us": 20, "end_us": 70 },
            { "id": 3, "parent": 2, "name": "downstream wait", "start_us": 30, "end_us": 60 },
            { "id": 4, "parent": 1, "name": "lock wait", "start_us": 11, "end_us": 20 },
            { "id": 5, "parent": 99, "name": "lock wait", "start_us": 1, "end_us": 2 },
            { "id": 6, "parent": null, "name": "request", "start_us": 15, "end_us": null },
            { "id": 7, "parent": 6, "name": "a new name", "start_us": 16, "end_us": null }
        ] }"#,
    );
    let requests = spans.requests();
    let kinds: Vec<_> = requests[0].parts.iter().map(|part| part.kind.name()).collect();
    assert_eq!(kinds, ["lock wait", "lock held", "downstream wait"]);
    assert_eq!(requests[0].under_way_us(), 20);
    assert_eq!(requests[1].end_us, None);
    assert_eq!(requests[1].parts[0].kind, Kind::Other);
    assert_eq!(requests[1].parts[0].end_us, spans.now_us);
    assert_eq!(requests.len(), 2);
}

#[test]
fn a_circle_of_parents_belongs_to_no_request() {
    let spans = read(
        r#"{ "dropped": 0, "now_us": 9, "spans": [
            { "id": 1, "parent": 2, "name": "lock wait", "start_us": 1, "end_us": 2 },
            { "id": 2, "parent": 1, "name": "lock held", "start_us": 1, "end_us": 2 }
        ] }"#,
    );
    assert!(spans.requests().is_empty());
}
