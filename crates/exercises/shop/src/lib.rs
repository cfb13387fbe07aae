//! An online shop with everything that one has: a catalogue, a search, accounts, baskets, orders, and a stock
//! service that it asks over HTTP.
//!
//! [`slow`] is the shop as a small team wrote it in a hurry; `just try shop` copies it to `mine/`, which is yours.
//! [`data`] makes what a shop has collected after three years, and [`stock_service`] belongs to somebody else.

pub mod data;
#[path = "../../solutions/shop/mod.rs"]
#[expect(clippy::all, reason = "it is the slow shop, with as few changes as possible")]
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod referee;
#[expect(clippy::all, reason = "this is the service to improve")]
pub mod slow;
pub mod stock_service;

use std::{path::PathBuf, sync::Arc};

use axum::http::Uri;
use tempfile::TempDir;

/// The texts of the pages.
pub const TEMPLATES: [(&str, &str); 6] = [
    ("layout.html", include_str!("templates/layout.html")),
    ("parts.html", include_str!("templates/parts.html")),
    ("list.html", include_str!("templates/list.html")),
    ("product.html", include_str!("templates/product.html")),
    ("basket.html", include_str!("templates/basket.html")),
    ("orders.html", include_str!("templates/orders.html")),
];

/// The shop's own flags.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The stock service, such as http://127.0.0.1:9000, which `shop-stock` prints
    #[arg(long, value_name = "URL")]
    pub stock: Uri,

    /// Where the shop keeps its database, its sessions and its log; made if it isn't there. Without this flag, a
    /// temporary directory
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Decides what the shop sells, and who has ordered what
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u32,
}

/// The directory with the shop's data. A temporary one goes with the last clone.
#[derive(Clone, Debug)]
pub struct Directory {
    pub path: PathBuf,
    _temporary: Option<Arc<TempDir>>,
}

impl Options {
    /// Makes the shop's data, unless they are there.
    ///
    /// # Errors
    ///
    /// If they can't be written.
    pub fn directory(&self) -> anyhow::Result<Directory> {
        let (path, temporary) = match &self.data {
            Some(path) => (path.clone(), None),
            None => {
                let directory = tempfile::Builder::new().prefix("shop-").tempdir()?;
                (directory.path().to_owned(), Some(Arc::new(directory)))
            }
        };
        wait(data::make(&path, self.seed))?;
        Ok(Directory { path, _temporary: temporary })
    }
}

/// Waits for async work while a server starts, outside of async code.
pub fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(work))
}
