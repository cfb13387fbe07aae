//! All variants give the same answers to the same good and bad requests.

use bson::{RawDocumentBuf, cstr};
use case_server::InProcess;
use double_parse::{VARIANTS, batch::find_reply, routes};

#[tokio::test]
async fn all_variants_answer_alike_and_as_the_case_file_says() {
    let [slow, others @ ..] = VARIANTS.map(|(_, summarise)| InProcess::new(routes(summarise)));
    for (path, status) in [
        ("/summary?documents=10000", 200),
        ("/summary?documents=1000", 200),
        ("/summary?documents=1", 200),
        ("/summary?documents=100&seed=7", 200),
        ("/summary?documents=100&seed=x", 400),
        ("/summary?documents=0", 400),
        ("/summary?documents=999", 400),
        ("/summary?documents=ten", 400),
        ("/summary", 400),
        ("/no-such-route", 404),
    ] {
        let answer = slow.get(path).await;
        assert_eq!(answer.0, status, "{path}: {answer:?}");
        for other in &others {
            assert_eq!(other.get(path).await, answer, "{path}");
        }
        if path.ends_with("000") {
            let summary = String::from_utf8_lossy(&answer.1);
            let request = format!("path = \"{path}\", answer = '{summary}'");
            assert!(include_str!("../case.toml").contains(&request), "{request}");
        }
    }
}

/// A database sends each field once. Of two, a document keeps the last, and a struct refuses both.
#[test]
fn a_field_that_is_there_twice_is_the_exception() {
    let mut reply = RawDocumentBuf::from_bytes(find_reply(1)).unwrap();
    reply.append(cstr!("ok"), 1.0);
    let accepted = VARIANTS.map(|(_, summarise)| summarise(reply.as_bytes()).is_ok());
    assert_eq!(accepted, [true, true, false, false]);
}
