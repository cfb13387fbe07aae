//! Both variants give the same answers to the same good and bad requests.

use catalogue::variants;

#[tokio::test]
async fn both_variants_answer_alike() {
    let [(_, slow), (_, fixed)] = variants();
    for (path, status) in [
        ("/feed?rate=190", 200),
        ("/feed?rate=0&most=3", 200),
        ("/feed?rate=1000&tag=red", 200),
        ("/feed?rate=77&tag=series-7&most=4", 200),
        ("/feed?rate=77&tag=none", 200),
        ("/feed?rate=77&most=0", 200),
        ("/feed?rate=77&unknown=1", 200),
        ("/feed?rate=1001", 400),
        ("/feed?rate=-1", 400),
        ("/feed?most=1", 400),
        ("/feed", 400),
        ("/feed/more?rate=1", 404),
        ("/products/1003?rate=190", 200),
        ("/products/1000?rate=0", 200),
        ("/products/1003?rate=1001", 400),
        ("/products/1600?rate=190", 404),
        ("/products/1003", 400),
        ("/products/-1?rate=190", 400),
    ] {
        let answer = slow.get(path).await;
        assert_eq!(answer.0, status, "{path}: {answer:?}");
        assert_eq!(fixed.get(path).await, answer, "{path}");
    }
    let (_, entry) = fixed.get("/products/1003?rate=190").await;
    let expected = r#"{"code":1003,"name":"Étagère no. 100","net_cents":12258,"stock":2,"tags":["black","series-4"],"url":"/products/1003?rate=190","vat_cents":2329}"#;
    assert_eq!(String::from_utf8_lossy(&entry), expected);
}
