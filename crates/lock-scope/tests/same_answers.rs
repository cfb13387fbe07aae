//! All variants give the same answers to the same good and bad requests.

use std::time::Duration;

use lock_scope::variants;
use warp::http::Request;

#[tokio::test]
async fn all_variants_answer_alike_and_as_expected() {
    for (variant, routes) in variants(Duration::ZERO) {
        // In this order: later requests see what earlier ones wrote.
        for (method, path, status, text) in [
            ("GET", "/read", 200, "6"),
            ("GET", "/read?unknown=1", 200, "6"),
            ("GET", "/read/more", 404, "no such route\n"),
            ("POST", "/read", 405, "this route does not take that method\n"),
            ("PUT", "/clients/new/4294967295", 204, ""),
            ("GET", "/read", 200, "4294967301"),
            ("PUT", "/clients/new/7", 204, ""),
            ("PUT", "/clients/new/-1", 404, "no such route\n"),
            ("GET", "/clients/new/8", 405, "this route does not take that method\n"),
            ("GET", "/read", 200, "13"),
        ] {
            let request = Request::builder().method(method).uri(path).body("").unwrap();
            let answer = routes.ask(request).await;
            assert_eq!(answer, (status, text.into()), "{variant}: {method} {path}");
        }
    }
}
