//! Stacks and spans that begin right and go wrong: none panics, and what is read can be drawn.

use super::*;
use crate::Spans;

const STACKS: [&str; 3] = [
    "clone3;start_thread;<std::sys::thread::unix::Thread>::new::thread_start;shop::price;read;vfs_read_[k] 20\n\
     main;[libc.so.6];<F as core::ops::FnOnce<fn(u8) -> u8>>::call;cfree@GLIBC_2.2.5 7\n",
    "_ZN4main4work17h0123456789abcdefE;_RINvCscPdqpYx78pI_8rust_out3fooAhj2_EB2_;read 2\nmain 4\n",
    "_start;main;node::Start;JS:*price /srv/server.js:12:3;Builtins_ArraySort 6\n\
     runtime.goexit.abi0;net/http.(*conn).serve;main.price;runtime.mallocgc 9\n",
];
const SPANS: &str = r#"{ "dropped": 3, "now_us": 90, "spans": [
    { "id": 1, "parent": null, "name": "request", "start_us": 10, "end_us": 80 },
    { "id": 2, "parent": 1, "name": "lock held", "start_us": 20, "end_us": 70 },
    { "id": 3, "parent": 2, "name": "wait", "start_us": 30, "end_us": null }] }"#;

#[test]
fn malformed_stacks_are_refused_or_survive_being_written() {
    malformed_input::texts(STACKS, |text| {
        let Ok(folded) = text.parse::<Folded>() else { return };
        let again: Folded = folded.to_string().parse().unwrap();
        assert_eq!(again.to_string(), folded.to_string());
        let crates = vec!["shop".to_owned()];
        let shown = View { crates, variants: vec!["slow".to_owned()] }.of(&folded);
        Node::of(&shown).walk(&mut |_, _| {});
        changed(&shown, &folded.demangled(), 5);
        let limit = Sampling::of(&shown, &folded, [1, folded.total()]).limit();
        assert!(!limit.is_nan());
        for function in hottest(&folded, 9) {
            assert!((0.0..=1.0).contains(&function.share), "{function:?}");
        }
        assert!(folded.scaled_to(1_000_000).total() <= 1_000_000);
    });
}

#[test]
fn malformed_spans_are_refused_or_belong_to_requests() {
    malformed_input::texts([SPANS], |text| {
        let Ok(spans) = serde_json::from_str::<Spans>(text) else { return };
        let requests = spans.requests(&Default::default());
        let parts: usize = requests.iter().map(|request| request.parts.len()).sum();
        assert!(requests.len() + parts <= spans.spans.len());
    });
}

#[test]
fn a_name_of_a_function_cannot_write_the_terminal_or_break_a_picture() {
    let mut folded = Folded::default();
    let names = ["main\u{1}", "\x1b[2Jred\x1b[0m", "a\u{202e}b", "größe"];
    folded.add(names.map(str::to_owned).to_vec(), 1);
    let (stack, _) = folded.iter().next().unwrap();
    assert!(stack.iter().all(|name| !name.contains(char::is_control)), "{stack:?}");
    assert_eq!(stack[1..], ["red", "a\\u{202e}b", "größe"]);
}
