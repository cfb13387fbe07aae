//! Both variants give the same answers to the same good and bad requests.

use hot_clone::variants;

#[tokio::test]
async fn both_variants_answer_alike_and_as_expected() {
    let sum = |rounds: u64| (0..rounds).map(|i| i + 1 + 2 + 3).sum::<u64>().to_string();
    let unreadable = || "the query cannot be read\n".to_owned();
    for (path, status, text) in [
        ("/cpu?rounds=0", 200, sum(0)),
        ("/cpu?rounds=1", 200, sum(1)),
        ("/cpu?rounds=4321&unknown=1", 200, sum(4321)),
        ("/cpu", 400, unreadable()),
        ("/cpu?rounds=", 400, unreadable()),
        ("/cpu?rounds=-1", 400, unreadable()),
        ("/cpu?rounds=1.5", 400, unreadable()),
        ("/cpu?rounds=4294967296", 400, unreadable()),
        ("/cpu/more?rounds=1", 404, "no such route\n".to_owned()),
    ] {
        for (variant, routes) in variants() {
            assert_eq!(routes.get(path).await, (status, text.clone().into()), "{variant}: {path}");
        }
    }
}
