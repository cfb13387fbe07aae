//! Both variants give the same answers to the same good and bad requests.

use http::Request;
use presence::{Options, variants};

#[tokio::test]
async fn both_variants_answer_alike_and_as_expected() {
    let too_long = format!("/rooms/attic/{}", "a".repeat(41));
    for (variant, service) in variants(Options { directory_ms: 0 }) {
        for (method, path, status, text) in [
            ("GET", "/rooms", 200, "attic: 0\nkitchen: 1\nlobby: 3\n"),
            ("GET", "/rooms/attic", 200, "attic: 0 here\n"),
            ("PUT", "/rooms/attic/ada", 204, ""),
            ("GET", "/rooms/attic", 200, "attic: 1 here\nAda, desk 5761\n"),
            ("GET", "/rooms/lobby", 200, "lobby: 2 here\nGrace, desk 8795\nLinus, desk 3172\n"),
            ("DELETE", "/rooms/lobby/ada", 404, ""),
            ("DELETE", "/rooms/attic/ada", 204, ""),
            ("GET", "/rooms/attic?unknown=1", 200, "attic: 0 here\n"),
            ("GET", "/rooms/cellar", 404, ""),
            ("PUT", "/rooms/cellar/ada", 404, ""),
            ("PUT", &too_long, 400, ""),
            ("POST", "/rooms/attic/ada", 405, ""),
            ("GET", "/rooms/attic/ada/desk", 404, ""),
        ] {
            let request = Request::builder().method(method).uri(path).body("").unwrap();
            let expected = (status, text.into());
            assert_eq!(service.ask(request).await, expected, "{variant}: {method} {path}");
        }
    }
}
