//! All variants give the same answers to the same good and bad requests.

use axum::http::Request;
use blocked_worker::{Options, variants};

#[tokio::test]
async fn all_variants_answer_alike_and_as_expected() {
    let good = include_str!("../login.json");
    let greeting = "welcome, ada\n";
    let case = include_str!("../case.toml");
    assert!(case.contains(&format!("body = \"login.json\", answer = {greeting:?}")), "case.toml");

    let (wrong, unreadable) =
        ("wrong user or password\n", "the body needs a user and a password\n");
    for (variant, routes) in variants(Options { memory_kib: 8, passes: 1 }).unwrap() {
        for (method, path, body, status, text) in [
            ("GET", "/health", "", 200, "ok\n"),
            ("POST", "/health", "", 405, ""),
            ("POST", "/login", good, 200, greeting),
            (
                "POST",
                "/login",
                r#"{"password":"nanoseconds","user":"grace"}"#,
                200,
                "welcome, grace\n",
            ),
            ("POST", "/login", r#"{"user":"ada","password":"nanoseconds"}"#, 401, wrong),
            ("POST", "/login", r#"{"user":"ada","password":""}"#, 401, wrong),
            ("POST", "/login", r#"{"user":"","password":""}"#, 401, wrong),
            ("POST", "/login", r#"{"user":"nobody","password":"difference engine"}"#, 401, wrong),
            ("POST", "/login", r#"{"user":"ada"}"#, 400, unreadable),
            ("POST", "/login", &good[..good.len() - 1], 400, unreadable),
            ("POST", "/login", "", 400, unreadable),
            ("GET", "/login", "", 405, ""),
            ("POST", "/login/more", good, 404, ""),
        ] {
            let request = Request::builder().method(method).uri(path);
            let answer = routes.ask(request.body(body.to_owned()).unwrap()).await;
            assert_eq!(answer, (status, text.into()), "{variant}: {method} {path} {body}");
        }
    }
}
