//! All variants give the same answers to the same good and bad requests.

use timesheet::variants;

#[tokio::test]
async fn all_variants_answer_alike() {
    let [slow, without_lock, fixed] = variants().map(|(_, routes)| routes);
    // In this order: exports are counted.
    for (path, status) in [
        ("/teams/0/exports", 200),
        ("/teams/0/export?from=1&to=365", 200),
        ("/teams/3/export?from=7&to=7", 200),
        ("/teams/3/export?from=7&to=6", 200),
        ("/teams/3/export?from=0&to=4294967295&unknown=1", 200),
        ("/teams/4/export?from=1&to=9", 404),
        ("/teams/3/export?from=-1&to=9", 400),
        ("/teams/3/export?from=1", 400),
        ("/teams/3/export", 400),
        ("/teams/x/export?from=1&to=9", 404),
        ("/teams/3/exports", 200),
        ("/teams/4/exports", 200),
        ("/teams/3/exports/more", 404),
    ] {
        let answer = slow.get(path).await;
        assert_eq!(answer.0, status, "{path}: {answer:?}");
        assert_eq!(without_lock.get(path).await, answer, "{path}");
        assert_eq!(fixed.get(path).await, answer, "{path}");
    }
    let (_, table) = fixed.get("/teams/2/export?from=3&to=3").await;
    let expected = "day,person,minutes,note\r\n\
        3,Ada,480,\r\n\
        3,Grace,45,\"Wrote the part about \"\"terms\"\"\"\r\n\
        3,\"Linus \"\"Li\"\" Berg\",90,\"Planned the release, with the people from the warehouse\"\r\n\
        3,\"Niño, Pablo\",135,Answered tickets of the night\r\n\
        3,Zoë,180,Interviews\r\n\
        ,sum,930,\r\n";
    assert_eq!(String::from_utf8_lossy(&table), expected);
    let counts = ["/teams/2/exports", "/teams/3/exports"].map(|path| fixed.get(path));
    for (count, expected) in counts.into_iter().zip(["1\n", "3\n"]) {
        assert_eq!(count.await.1, expected);
    }
}
