//! Both variants give the same answers to the same good and bad requests.

use receipts::variants;

#[tokio::test]
async fn both_variants_answer_alike_and_as_expected() {
    for (path, status, text) in [
        (
            "/receipts/7",
            200,
            "Receipt 7\nfor ZOË SMITH\n--------------------------------\n3 x cup at 7.90: 23.70\n4 x teapot at 24.90: 99.60\n1 x sugar: 2.89\n2 x Earl Grey at 12.50: 25.00\nTotal: 151.19\nDelivery is free.\nYou can return this within 30 days, for a fee of 3.02.\nThank you\n",
        ),
        (
            "/receipts/8?language=de",
            200,
            "Quittung 8\nfür GRACE HOPPER\n--------------------------------\n1 x spoon <small>: 1.99\n2 x saucer zu 4.50: 9.00\n3 x cup zu 7.90: 23.70\n4 x teapot zu 24.90: 99.60\nSumme: 134.29\nDer Versand kostet nichts.\nRückgabe binnen 30 Werktagen, gegen 2.68.\nGeschenke nehmen wir zurück für 67.14.\nMit besten Grüßen\n",
        ),
        (
            "/receipts/9?language=fr&unknown=1",
            200,
            "Reçu 9\npour ZOË SMITH\n--------------------------------\n2 x cup à 7.90 : 15.80\n3 x teapot à 24.90 : 74.70\n4 x sugar à 2.89 : 11.56\nTotal : 102.06\nLa livraison est gratuite.\nVous pouvez rendre ceci pendant 30 jours, pour 2.04.\nMerci\n",
        ),
        ("/receipts/0", 404, "no such order\n"),
        ("/receipts/1000001", 404, "no such order\n"),
        ("/receipts", 200, "/receipts/1000000\n/receipts/999999\n/receipts/999998\n"),
        ("/receipts/7/pdf", 404, ""),
    ] {
        for (variant, service) in variants() {
            assert_eq!(service.get(path).await, (status, text.into()), "{variant}: {path}");
        }
    }
}

#[tokio::test]
async fn both_variants_refuse_the_same_wishes() {
    let [(_, slow), (_, fixed)] = variants();
    for path in ["/receipts/-1", "/receipts/x", "/receipts/7?language=it", "/receipts/7?language="]
    {
        let answer = slow.get(path).await;
        assert_eq!(answer.0, 400, "{path}");
        assert_eq!(fixed.get(path).await, answer, "{path}");
    }
}
