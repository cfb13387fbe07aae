//! Both variants give the same answers to the same good and bad requests.

use bytes::Bytes;
use hot_clone::variants;
use warp::http::Request;

/// Asks both variants for `path`, and returns their answer if it is the same.
async fn all_answer(path: &str) -> (u16, Bytes) {
    let [(_, slow), (_, fixed)] = variants();
    let answer = slow.get(path).await;
    assert_eq!(answer, fixed.get(path).await, "{path}");
    answer
}

#[tokio::test]
async fn the_sum_is_exact() {
    for rounds in [1, 2, 3, 10, 1000, 4321] {
        let sum: u64 = (0..rounds).map(|i| i + 1 + 2 + 3).sum();
        let answer = all_answer(&format!("/cpu?rounds={rounds}")).await;
        assert_eq!(answer, (200, sum.to_string().into()));
    }
}

/// Asks only `fixed`, because `slow` takes seconds for a million rounds in a debug build.
#[tokio::test]
async fn a_million_rounds_are_the_default_and_five_million_the_most() {
    let [_, (_, fixed)] = variants();
    assert_eq!(fixed.get("/cpu").await, (200, "500005500000".into()));
    assert_eq!(fixed.get("/cpu?rounds=1000000").await, (200, "500005500000".into()));
    assert_eq!(fixed.get("/cpu?rounds=5000000").await, (200, "12500027500000".into()));
}

#[tokio::test]
async fn rounds_out_of_bounds_are_refused_in_one_line() {
    for rounds in
        ["0", "-1", "5000001", "18446744073709551616", "", "1e3", "1.5", "ten", "%00", "1&rounds=2"]
    {
        let answer = all_answer(&format!("/cpu?rounds={rounds}")).await;
        let refusal = "rounds has to be a whole number from 1 to 5000000\n";
        assert_eq!(answer, (400, refusal.into()), "{rounds}");
    }
}

#[tokio::test]
async fn other_requests_are_refused_alike() {
    assert_eq!(all_answer("/cpu?rounds=1&unknown=1").await, (200, "6".into()));
    assert_eq!(all_answer("/").await.0, 404);
    assert_eq!(all_answer("/cpu/more").await.0, 404);
    assert_eq!(all_answer("/no-such-route?rounds=0").await.0, 404);
    for (variant, routes) in variants() {
        for path in ["/cpu?rounds=1", "/cpu?rounds=0"] {
            let post = Request::post(path).body("").expect("the path is valid");
            assert_eq!(routes.ask(post).await.0, 405, "{variant}: {path}");
        }
    }
}
