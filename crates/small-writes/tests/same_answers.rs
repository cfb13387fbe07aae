//! Both variants give the same answers to good and bad requests.

use axum::http::Request;
use small_writes::{LABELS, Options, variants};

#[tokio::test]
async fn slow_and_fixed_answer_alike_and_as_expected() {
    let not_a_number = |text: &str| format!("Invalid URL: Cannot parse `{text}` to a `u64`");
    for (name, routes) in variants(Options::default()) {
        // In this order: later requests see what earlier ones wrote.
        for (method, path, body, status, answer) in [
            ("PUT", "/labels/17", "Parcel 17\n", 204, String::new()),
            ("GET", "/labels/17", "", 200, "Parcel 17\n".to_owned()),
            ("GET", "/labels/17?unknown=1", "", 200, "Parcel 17\n".to_owned()),
            ("HEAD", "/labels/17", "", 200, String::new()),
            ("PUT", "/labels/17", "", 204, String::new()),
            ("GET", "/labels/17", "", 200, String::new()),
            ("GET", "/labels/0", "", 404, String::new()),
            ("GET", "/labels/501", "", 404, String::new()),
            ("PUT", "/labels/501", "Parcel 501\n", 404, String::new()),
            ("GET", "/labels/501", "", 404, String::new()),
            ("GET", "/labels/x", "", 400, not_a_number("x")),
            ("GET", "/labels/-1", "", 400, not_a_number("-1")),
            ("POST", "/labels/17", "", 405, String::new()),
            ("GET", "/labels", "", 404, String::new()),
        ] {
            let request = Request::builder().method(method).uri(path).body(body).unwrap();
            assert_eq!(
                routes.ask(request).await,
                (status, answer.into()),
                "{name}: {method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn every_label_is_alike_and_its_own() {
    let [(_, slow), (_, fixed)] = variants(Options::default());
    let mut before = None;
    for number in [1, 2, 17, LABELS - 1, LABELS] {
        let path = format!("/labels/{number}");
        let (status, label) = slow.get(&path).await;
        assert!(status == 200 && label.starts_with(format!("Parcel {number}\n").as_bytes()));
        assert_eq!(fixed.get(&path).await, (status, label.clone()), "{path}");
        assert_ne!(before.replace(label.clone()), Some(label), "{path}");
    }
}
