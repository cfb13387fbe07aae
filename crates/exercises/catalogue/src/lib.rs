//! A shop that lists its products for the sites that compare prices.
//!
//! Each country has its own rate of value added tax, so a site asks for a list with a rate. This file
//! has the products; [`slow`] has the service.

#[path = "../../solutions/catalogue.rs"]
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod slow;

use axum::http::StatusCode;
use case_server::InProcess;
use serde::{Deserialize, Serialize};

/// A product, as the shop keeps it.
#[derive(Clone, Debug, Serialize)]
pub struct Product {
    pub code: u32,
    pub name: String,
    /// The price without tax, in cents.
    pub net_cents: u32,
    /// How many are in the warehouse.
    pub stock: u32,
    pub tags: Vec<String>,
}

impl Product {
    /// The tax on this product, in cents; half a cent is rounded down.
    pub fn vat_cents(&self, rate: u32) -> u64 {
        u64::from(self.net_cents) * u64::from(rate) / 1000
    }

    /// Whether a query wants this product.
    pub fn fits(&self, query: &Query) -> bool {
        query.tag.as_ref().is_none_or(|tag| self.tags.contains(tag))
    }
}

/// What a site asks for.
#[derive(Clone, Debug, Deserialize)]
pub struct Query {
    /// The rate of the tax, in tenths of a per cent.
    pub rate: u32,
    /// Only products with this tag.
    pub tag: Option<String>,
    /// At most so many products.
    pub most: Option<usize>,
}

/// The highest rate that the shop accepts: 100 %.
const HIGHEST_RATE: u32 = 1000;

impl Query {
    /// # Errors
    ///
    /// If the rate is too high.
    pub fn ensure_valid(&self) -> Result<(), Refusal> {
        if self.rate > HIGHEST_RATE {
            return Err((StatusCode::BAD_REQUEST, "the rate has to be 0 to 1000\n"));
        }
        Ok(())
    }
}

/// A status, and the reason in one line.
pub type Refusal = (StatusCode, &'static str);

const KINDS: [&str; 4] = ["Lamp", "Chair", "Table \"Oslo\"", "Étagère"];
const COLOURS: [&str; 5] = ["red", "green", "blue", "black", "white"];

/// The shop's products, in the order of their codes: the same on every machine.
pub fn products() -> Vec<Product> {
    let product = |code: u32| {
        let (nth, tenth) = (code as usize, code / 10);
        Product {
            code,
            name: format!("{} no. {tenth}", KINDS[nth % KINDS.len()]),
            net_cents: 199 + code.wrapping_mul(2_654_435_761) % 50_000,
            stock: code % 7,
            tags: vec![COLOURS[nth % COLOURS.len()].to_owned(), format!("series-{}", tenth % 8)],
        }
    };
    (1000..1600).map(product).collect()
}

/// All variants by name, for tests that use no socket.
pub fn variants() -> [(&'static str, InProcess); 2] {
    [("slow", InProcess::new(slow::routes())), ("fixed", InProcess::new(fixed::routes()))]
}
