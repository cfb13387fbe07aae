//! All variants give the same answers to the same good and bad requests.

use axum::http::Request;
use query_per_row::{Options, variants};

#[tokio::test]
async fn all_variants_answer_alike_and_as_expected() {
    let two = |newest: &str| {
        format!(
            r#"[{{"id":10000,"cents":95537,"customer":"{newest}"}},{{"id":9999,"cents":12277,"customer":"Customer 8169"}}]"#
        )
    };
    let unreadable = "Failed to deserialize query string: limit: ";
    for variant in 0..3 {
        let database = Options::default().connect().await.unwrap();
        let (name, routes) = variants(&database).into_iter().nth(variant).unwrap();
        // In this order: later requests see what earlier ones wrote.
        for (method, path, status, text) in [
            ("GET", "/orders?limit=2", 200, two("Customer 6216")),
            ("GET", "/orders?limit=2&unknown=1", 200, two("Customer 6216")),
            ("PUT", "/customers/169/Ada%20L.", 204, String::new()),
            ("GET", "/orders?limit=2", 200, two("Ada L.")),
            ("PUT", "/customers/169/O'Brien", 204, String::new()),
            ("GET", "/orders?limit=2", 200, two("O'Brien")),
            ("PUT", "/customers/0/Ada", 404, String::new()),
            ("GET", "/orders?limit=0", 200, "[]".to_owned()),
            ("GET", "/orders?limit=x", 400, format!("{unreadable}invalid digit found in string")),
            ("GET", "/orders?limit=-1", 400, format!("{unreadable}invalid digit found in string")),
            (
                "GET",
                "/orders?limit=65536",
                400,
                format!("{unreadable}number too large to fit in target type"),
            ),
            ("POST", "/orders", 405, String::new()),
            ("GET", "/customers/1/Ada", 405, String::new()),
            ("GET", "/orders/1", 404, String::new()),
        ] {
            let request = Request::builder().method(method).uri(path).body("").unwrap();
            assert_eq!(routes.ask(request).await, (status, text.into()), "{name}: {method} {path}");
        }
    }
}

#[tokio::test]
async fn whole_pages_are_alike() {
    let database = Options { seed: 7, ..Options::default() }.connect().await.unwrap();
    let [(_, slow), others @ ..] = variants(&database);
    for path in ["/orders", "/orders?limit=1", "/orders?limit=999", "/orders?limit=65535"] {
        let expected = slow.get(path).await;
        assert_eq!(expected.0, 200);
        for (variant, routes) in &others {
            assert_eq!(routes.get(path).await, expected, "{variant}: {path}");
        }
    }
}

#[tokio::test]
async fn a_seed_makes_the_same_shop_again_and_another_one_makes_another() {
    let mut pages = Vec::new();
    for seed in [1, 1, 2] {
        let database = Options { seed, ..Options::default() }.connect().await.unwrap();
        let [(_, slow), ..] = variants(&database);
        pages.push(slow.get("/orders").await);
    }
    assert_eq!(pages[0], pages[1]);
    assert_ne!(pages[0], pages[2]);
}
