//! A service that prints the receipts of a shop, in three languages.
//!
//! All variants share this file and the texts of [`templates`]. Read [`slow`]: `just try receipts` copies
//! it to `mine.rs`, which is yours.

#[path = "../../solutions/receipts.rs"]
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod slow;
pub mod templates;

use case_server::InProcess;
use serde::{Deserialize, Serialize};

pub use templates::{Options, Templates};

/// What a receipt is about.
#[derive(Clone, Debug, Serialize)]
pub struct Order {
    pub number: u32,
    pub customer: &'static str,
    pub items: Vec<Item>,
    /// In cents, as all amounts.
    pub total: u32,
    pub is_gift: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Item {
    pub name: &'static str,
    pub count: u32,
    pub cents: u32,
}

const GOODS: [(&str, u32); 6] = [
    ("teapot", 2_490),
    ("cup", 790),
    ("saucer", 450),
    ("spoon <small>", 199),
    ("Earl Grey", 1_250),
    ("sugar", 289),
];
const CUSTOMERS: [&str; 4] = ["Ada Byron", "Grace Hopper", "Ægir & Rán", "Zoë Smith"];
/// Orders begin with number 1. Later ones aren't there yet.
const NEWEST: u32 = 1_000_000;

impl Order {
    /// The order with this number. The shop is simulated, so a number always means the same order.
    fn numbered(number: u32) -> Option<Self> {
        let mixed = number.wrapping_mul(2_654_435_761) >> 8;
        let item = |nth: u32| {
            let (name, cents) = GOODS[(mixed / 7 + nth * 5) as usize % GOODS.len()];
            Item { name, cents, count: 1 + (mixed / 11 + nth) % 4 }
        };
        let items: Vec<_> = (0..1 + mixed % 5).map(item).collect();
        let total = items.iter().map(|item| item.count * item.cents).sum();
        let customer = CUSTOMERS[mixed as usize % CUSTOMERS.len()];
        let is_gift = mixed.is_multiple_of(3);
        (1..=NEWEST).contains(&number).then_some(Self { number, customer, items, total, is_gift })
    }
}

/// The language of a receipt.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
pub enum Language {
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "de")]
    German,
    #[serde(rename = "fr")]
    French,
}

impl Language {
    fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
        }
    }
}

/// The parameters of a receipt.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Wish {
    #[serde(default)]
    language: Language,
}

/// An amount as people read it: `12.50`.
fn money(cents: u32) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// All variants by name, for tests that use no socket.
pub fn variants() -> [(&'static str, InProcess); 2] {
    let templates = Options { foot: None }.templates();
    [
        ("slow", InProcess::new(slow::routes(templates))),
        ("fixed", InProcess::new(fixed::routes(templates))),
    ]
}
