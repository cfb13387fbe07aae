//! The time of a request that comes behind a login.

use std::time::{Duration, Instant};

use axum::http::Request;
use case_server::InProcess;
use criterion::Bencher;
use tokio::{runtime::Builder, task::yield_now};

/// Times `GET /health`, asked for right after a login on the same thread. The rest of the login isn't
/// timed.
pub fn behind_login(bencher: &mut Bencher<'_>, routes: &InProcess) {
    let runtime = Builder::new_current_thread().build().expect("a Tokio runtime can be started");
    let login = async |routes: InProcess| {
        let body = r#"{"user": "ada", "password": "difference engine"}"#;
        let request = Request::post("/login").body(body).expect("the request is valid");
        assert_eq!(routes.ask(request).await.0, 200);
    };
    bencher.to_async(&runtime).iter_custom(async |iterations| {
        let mut timed = Duration::ZERO;
        for _ in 0..iterations {
            let login = tokio::spawn(login(routes.clone()));
            let start = Instant::now();
            // The login came first, so it is polled first.
            yield_now().await;
            assert_eq!(routes.get("/health").await, (200, "ok\n".into()));
            timed += start.elapsed();
            login.await.expect("a login is answered");
        }
        timed
    });
}
