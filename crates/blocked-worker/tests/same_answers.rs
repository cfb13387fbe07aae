//! Both variants give the same answer to good and bad requests.

use blocked_worker::variants;

#[tokio::test]
async fn slow_and_fixed_answer_alike() {
    let [(_, slow), (_, fixed)] = variants();
    assert_eq!(slow.get("/answer").await, (200, "42".into()));
    // TODO: wrong methods, numbers out of bounds, bodies that break off.
    for path in ["/answer", "/answer?unknown=1", "/no-such-route"] {
        assert_eq!(slow.get(path).await, fixed.get(path).await, "{path}");
    }
}
