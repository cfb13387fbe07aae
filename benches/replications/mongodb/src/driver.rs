//! The article's find, with the driver that this package pins.

use futures_util::TryStreamExt;
use mongodb::bson::{Document, doc};
use mongodb::{Client, Collection};

/// The article's collection.
pub const MANY: (&str, usize) = ("many", 10_000);

pub async fn collection(url: &str, name: &str) -> Collection<Document> {
    let client = Client::with_uri_str(url).await.expect("the server's URL is valid");
    client.database("foo").collection(name)
}

/// All documents of a collection.
pub async fn find(collection: &Collection<Document>) -> mongodb::error::Result<Vec<Document>> {
    #[cfg(not(feature = "builders"))]
    let cursor = collection.find(doc! {}, None).await?;
    #[cfg(feature = "builders")]
    let cursor = collection.find(doc! {}).await?;
    cursor.try_collect().await
}
