//! Both variants give the same answers to the same good and bad requests.

use tariffs::variants;

#[tokio::test]
async fn both_variants_answer_alike_and_as_expected() {
    for (path, status, text) in [
        ("/estimate?parcels=0", 200, "0 parcels, 0 too heavy\n0 cents, at most 0\n"),
        ("/estimate?parcels=1&first=1", 200, "1 parcels, 0 too heavy\n1800 cents, at most 1800\n"),
        (
            "/estimate?parcels=100&first=7",
            200,
            "100 parcels, 4 too heavy\n277110 cents, at most 10200\n",
        ),
        (
            "/estimate?parcels=99999&first=4294967295&unknown=1",
            200,
            "20000 parcels, 645 too heavy\n54222080 cents, at most 10350\n",
        ),
        ("/estimate/more", 404, ""),
    ] {
        for (variant, service) in variants() {
            assert_eq!(service.get(path).await, (status, text.into()), "{variant}: {path}");
        }
    }
}

#[tokio::test]
async fn both_variants_refuse_the_same_queries() {
    let [(_, slow), (_, fixed)] = variants();
    for query in ["", "?parcels=", "?parcels=-1", "?parcels=4294967296", "?parcels=1&first=x"] {
        let answer = slow.get(&format!("/estimate{query}")).await;
        assert_eq!(answer.0, 400, "{query}");
        assert_eq!(fixed.get(&format!("/estimate{query}")).await, answer, "{query}");
    }
}
