//! Both variants give the same answers to the same good and bad requests.

use axum::http::Request;
use case_server::InProcess;
use quotes::{Options, fixed, slow};

#[tokio::test]
async fn both_variants_answer_alike_and_as_expected() {
    let options = Options { far_ms: 0, near_ms: 0 };
    let variants = [slow::routes(options), fixed::routes(options)];
    for routes in variants.map(|routes| InProcess::new(routes.unwrap())) {
        // In this order: later requests see what earlier ones noted.
        for (method, path, status, text) in [
            ("GET", "/lowest/lamp", 404, ""),
            (
                "GET",
                "/quotes/near/lamp?amount=2",
                200,
                r#"{"item":"lamp","depot":"near","cents":2750,"is_lowest":true}"#,
            ),
            (
                "GET",
                "/quotes/far/lamp?amount=2",
                200,
                r#"{"item":"lamp","depot":"far","cents":2500,"is_lowest":true}"#,
            ),
            (
                "GET",
                "/quotes/near/lamp?amount=1",
                200,
                r#"{"item":"lamp","depot":"near","cents":1375,"is_lowest":false}"#,
            ),
            ("GET", "/lowest/lamp", 200, "1250\n"),
            ("PUT", "/wholesaler/lamp/1300", 204, ""),
            (
                "GET",
                "/quotes/far/lamp?amount=4294967295",
                200,
                r#"{"item":"lamp","depot":"far","cents":5583457483500,"is_lowest":false}"#,
            ),
            ("PUT", "/wholesaler/lamp/900", 204, ""),
            (
                "GET",
                "/quotes/far/lamp?amount=0",
                200,
                r#"{"item":"lamp","depot":"far","cents":0,"is_lowest":true}"#,
            ),
            ("GET", "/lowest/lamp", 200, "900\n"),
            ("GET", "/quotes/far/sofa?amount=1", 404, ""),
            ("GET", "/lowest/sofa", 404, ""),
            ("PUT", "/wholesaler/sofa/10000001", 400, ""),
            ("PUT", "/quotes/far/lamp?amount=1", 405, ""),
        ] {
            let request = Request::builder().method(method).uri(path).body("").unwrap();
            let answer = routes.ask(request).await;
            assert_eq!(answer, (status, text.into()), "{method} {path}");
        }
        for path in ["/quotes/far/lamp", "/quotes/far/lamp?amount=-1", "/quotes/moon/lamp?amount=1"]
        {
            assert_eq!(routes.get(path).await.0, 400, "{path}");
        }
    }
}

#[test]
fn more_connections_are_refused() {
    let options = Options { far_ms: 0, near_ms: 0 };
    assert!(quotes::Wholesaler::connect(options, 17).is_err());
}
