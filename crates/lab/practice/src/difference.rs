//! How an answer differs from the right one: by its status, its content type, or the place in its body.

use std::io::{self, ErrorKind};

use lab_load::{Fault, Fetched, NO_ANSWER};
use lab_measure::count::RESTLESS;
use lab_report::translate;

/// The measured value in words. The error of a value that isn't enough also has the needed value.
pub(super) type Found = Result<String, [String; 2]>;

/// How many bytes of a body are shown before the first difference, and from there on.
const AROUND: (usize, usize) = (20, 40);
/// How much of the body of an answer with another status is shown.
const BODY: usize = 200;

/// The value that was found and the value that was needed; `None` if the answers are equal.
pub(super) fn difference(found: &Fetched, right: &Fetched) -> Option<[String; 2]> {
    if found.status != right.status {
        let status = found.status;
        let found = match one_line(&found.body[..found.body.len().min(BODY)]) {
            body if body.is_empty() => translate!("status {status} without a body", status),
            body => translate!("status {status} with the body `{body}`", status, body),
        };
        return Some([found, translate!("status {status}", status = right.status)]);
    }
    if found.body != right.body {
        let same = found.body.iter().zip(&right.body).take_while(|(one, other)| one == other);
        let offset = same.count();
        let [found, right] = [&found.body, &right.body].map(|body| around(body, offset));
        return Some([
            translate!("another body from byte {offset} on, {found}", offset, found),
            right,
        ]);
    }
    let [one, other] =
        [found, right].map(|answer| answer.header("content-type").unwrap_or("none".to_owned()));
    (one != other).then(|| [translate!("content type `{one}`", one), format!("`{other}`")])
}

/// Errors that a server can cause on a connection. Any other one comes from this machine, such as a full disk.
const BY_THE_SERVER: [ErrorKind; 6] = [
    ErrorKind::ConnectionRefused,
    ErrorKind::ConnectionReset,
    ErrorKind::ConnectionAborted,
    ErrorKind::BrokenPipe,
    ErrorKind::UnexpectedEof,
    ErrorKind::TimedOut,
];

/// Why there is no answer, and what was needed.
///
/// # Errors
///
/// The error itself, if the server is not to blame for it, as for a full disk.
pub(super) fn failure(error: anyhow::Error) -> anyhow::Result<[String; 2]> {
    let mut of_system = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    if of_system.any(|error| !BY_THE_SERVER.contains(&error.kind())) {
        return Err(error);
    }
    let is_wrong =
        error.chain().any(|cause| matches!(cause.downcast_ref(), Some(Fault::Mismatch(_))));
    let found = format!("{error:#}");
    let needed = if found.contains(NO_ANSWER) {
        translate!(
            "an answer. A handler that never answers waits for what never comes, such as a lock that it holds itself"
        )
    } else if found.contains(RESTLESS) {
        translate!(
            "no thread works any more once all requests have their answers. One that looks again and again, without a \
             wait in between, never rests"
        )
    } else if is_wrong {
        translate!("the answer that slow gives")
    } else {
        translate!("an answer")
    };
    Ok([found, needed])
}

/// A body at the first byte that differs, with what comes before it.
fn around(body: &[u8], offset: usize) -> String {
    let (before, after) = AROUND;
    let (from, to) = (offset.saturating_sub(before), body.len().min(offset + after));
    let [head, tail] = [from > 0, to < body.len()].map(|is_cut| if is_cut { "…" } else { "" });
    match body.len() {
        length if length == offset => {
            translate!("the end: `{rest}`", rest = format!("{head}{}", one_line(&body[from..to])))
        }
        _ => format!("`{head}{}{tail}`", one_line(&body[from..to])),
    }
}

/// Bytes as text of one line.
fn one_line(bytes: &[u8]) -> String {
    lab_system::escaped(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn how(status: u16, found: &[u8], right: &[u8]) -> Option<[String; 2]> {
        let answer = |status, body: &[u8]| {
            let mut answer = Fetched::default();
            (answer.status, answer.body) = (status, body.to_owned());
            answer
        };
        difference(&answer(status, found), &answer(200, right))
    }

    #[test]
    fn the_text_around_the_first_difference_is_shown_with_its_place() {
        assert_eq!(how(200, b"\xfe", b"\xfe"), None);
        let start = "x".repeat(300);
        let [found, right] =
            ["Ada", "Grace"].map(|name| format!("{start}{name}{}", "y".repeat(300)));
        let [found, right] = how(200, found.as_bytes(), right.as_bytes()).unwrap();
        assert!(found.starts_with("another body from byte 300 on, `…xxxxxxxxxxxxxxxxxxxxAdayyy"));
        assert!(right.starts_with("`…xxxxxxxxxxxxxxxxxxxxGrace") && right.ends_with("y…`"));
        let shorter = how(200, b"12", b"123").unwrap();
        assert_eq!(shorter, ["another body from byte 2 on, the end: `12`", "`123`"]);
        // Bytes that are no text differ, too, also from the sign that stands for them.
        assert!(how(200, b"\xff", b"\xfe").is_some());
        assert!(how(200, "\u{fffd}".as_bytes(), b"\xfe").is_some());
    }

    #[test]
    fn only_what_a_server_can_do_is_its_failure() {
        let of = |kind| failure(anyhow::Error::new(io::Error::from(kind)).context("no answer"));
        assert_eq!(of(ErrorKind::ConnectionReset).unwrap()[1], "an answer");
        assert!(failure(anyhow::anyhow!("it exited")).is_ok());
        let wrong = anyhow::Error::new(Fault::Mismatch("`7` instead of `6`".to_owned()));
        assert_eq!(failure(wrong.context("toy")).unwrap()[1], "the answer that slow gives");
        let [_, needed] = failure(anyhow::anyhow!("{RESTLESS}, so")).unwrap();
        assert!(needed.starts_with("no thread works any more"), "{needed}");
        for kind in [ErrorKind::StorageFull, ErrorKind::PermissionDenied, ErrorKind::OutOfMemory] {
            assert!(of(kind).is_err(), "{kind}");
        }
    }

    #[test]
    fn another_status_comes_with_its_body() {
        let [found, right] = how(500, b"no such table", b"6").unwrap();
        assert_eq!((&*found, &*right), ("status 500 with the body `no such table`", "status 200"));
        assert_eq!(how(204, b"", b"6").unwrap()[0], "status 204 without a body");
        // As a reader's program prints it.
        let [found, _] = how(200, br#"{"cents":1}"#, br#"{"cents":2}"#).unwrap();
        assert!(found.contains(r#"`{"cents":1}`"#), "{found}");
    }
}
