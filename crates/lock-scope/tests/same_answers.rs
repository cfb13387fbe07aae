//! All variants give the same answers to the same good and bad requests.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use bytes::Bytes;
use case_server::InProcess;
use lock_scope::variants;
use warp::http::Request;

const CLIENT: &str = r#"{"user_id":4294967295,"subscribed_topics":["cats"]}"#;

/// The answers of one variant, in order. Later requests see what earlier ones wrote.
async fn answers(routes: &InProcess) -> Vec<(u16, Bytes)> {
    let put = |body: &'static str| {
        let request = Request::put("/clients/new").header("content-length", body.len());
        routes.ask(request.body(body).unwrap())
    };
    vec![
        routes.get("/read").await,
        routes.get("/read?unknown=1").await,
        routes.get("/no-such-route").await,
        routes.get("/read/more").await,
        routes.ask(Request::post("/read").body("").unwrap()).await,
        put(CLIENT).await,
        routes.get("/read").await,
        put(r#"{"user_id":7,"subscribed_topics":[]}"#).await,
        routes.get("/read").await,
        put(r#"{"user_id":-1,"subscribed_topics":[]}"#).await,
        put(r#"{"user_id":8"#).await,
        put("").await,
        put(Box::leak(" ".repeat(16 * 1024 + 1).into_boxed_str())).await,
        // A body without a content-length.
        routes.ask(Request::put("/clients/new").body(CLIENT).unwrap()).await,
        routes
            .ask(
                Request::put("/clients/new")
                    .header("content-type", "text/plain")
                    .header("content-length", CLIENT.len())
                    .body(CLIENT)
                    .unwrap(),
            )
            .await,
        routes.get("/read").await,
    ]
}

#[tokio::test]
async fn all_variants_answer_alike_and_as_expected() {
    let statuses = [200, 200, 404, 404, 405, 204, 200, 204, 200, 400, 400, 400, 413, 411, 415, 200];
    let mut all = Vec::new();
    for (variant, routes) in variants(Duration::ZERO) {
        let given = answers(&routes).await;
        let given_statuses: Vec<_> = given.iter().map(|(status, _)| *status).collect();
        assert_eq!(given_statuses, statuses, "{variant}");
        assert_eq!(given[0].1, "6");
        assert_eq!(given[6].1, (6 + u64::from(u32::MAX)).to_string());
        assert_eq!(given[8].1, "13");
        assert_eq!(given[15].1, "13", "a refused write changes nothing");
        assert!(given.iter().all(|(_, body)| body.len() < 80), "{variant}: {given:?}");
        all.push(given);
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:#?}");
}

#[tokio::test]
async fn the_map_does_not_grow_without_bound() {
    for (variant, routes) in variants(Duration::ZERO) {
        let put = |name: u32| {
            let client = r#"{"user_id":0,"subscribed_topics":[]}"#;
            let request = Request::put(format!("/clients/{name}"));
            routes.ask(request.header("content-length", client.len()).body(client).unwrap())
        };
        for name in 3..10_000 {
            assert_eq!(put(name).await.0, 204, "{variant}: {name}");
        }
        assert_eq!(put(10_000).await.0, 507, "{variant}: the map is full");
        assert_eq!(put(3).await.0, 204, "{variant}: a full map still takes a known name");
    }
}
