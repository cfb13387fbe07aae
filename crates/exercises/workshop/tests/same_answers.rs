//! Both variants give the same answers to the same good and bad requests.

use http::Request;
use workshop::{Options, variants};

#[tokio::test]
async fn both_variants_answer_alike_and_as_expected() {
    let too_long = format!("/drawings/hub/{}/1", "a".repeat(41));
    for (variant, service) in variants(Options { office_ms: 0 }) {
        // In this order: later requests see what earlier ones changed.
        for (method, path, status, text) in [
            ("GET", "/parts/stem?amount=2", 200, "8 bolt\n2 clamp\n"),
            ("GET", "/parts/bearing?amount=4294967295", 200, "38654705655 ball\n8589934590 ring\n"),
            ("GET", "/parts/hub?amount=1", 200, "1 axle\n18 ball\n4 ring\n1 shell\n"),
            ("GET", "/parts/hub?amount=0", 200, "0 axle\n0 ball\n0 ring\n0 shell\n"),
            ("PUT", "/drawings/hub/bolt/7", 204, ""),
            ("PUT", "/drawings/bearing/ball/10", 204, ""),
            ("GET", "/parts/hub?amount=1", 200, "1 axle\n20 ball\n7 bolt\n4 ring\n1 shell\n"),
            ("PUT", "/drawings/hub/hub/1", 400, ""),
            ("PUT", "/drawings/hub/wheel/1", 400, ""),
            ("PUT", "/drawings/hub/bolt/0", 400, ""),
            ("PUT", "/drawings/hub/bolt/101", 400, ""),
            ("PUT", &too_long, 400, ""),
            ("PUT", "/drawings/bolt/nut/1", 404, ""),
            ("GET", "/parts/bolt?amount=1", 404, ""),
            ("GET", "/parts/car?amount=1", 404, ""),
            ("POST", "/parts/hub?amount=1", 405, ""),
            ("GET", "/parts/hub/shell?amount=1", 404, ""),
        ] {
            let request = Request::builder().method(method).uri(path).body("").unwrap();
            let expected = (status, text.into());
            assert_eq!(service.ask(request).await, expected, "{variant}: {method} {path}");
        }
        for query in ["", "?amount=-1", "?amount=4294967296", "?amount=x"] {
            assert_eq!(service.get(&format!("/parts/hub{query}")).await.0, 400, "{query}");
        }
    }
}
