//! A workshop that builds bicycles, and lists the parts that it has to buy for them.
//!
//! `office.rs` has the drawings, which another department keeps. [`slow`] has the workshop's service: `just try
//! workshop` copies it to `mine.rs`, which is yours.

#[path = "../../solutions/workshop.rs"]
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
mod office;
pub mod slow;

use std::collections::BTreeMap;

use case_server::InProcess;
use serde::Deserialize;

pub use office::{Office, Part, change_routes};

/// The service's own flags.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Options {
    /// Milliseconds that the drawing office takes to answer a question, in place of another service
    #[arg(long, value_name = "MS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(..=10_000))]
    pub office_ms: u64,
}

/// What to list: the parts of so many products.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Order {
    amount: u32,
}

/// A list as text: a line for each part.
fn text(list: &BTreeMap<String, u64>) -> String {
    list.iter().map(|(part, amount)| format!("{amount} {part}\n")).collect()
}

/// Both variants by name, for tests that use no socket.
pub fn variants(options: Options) -> [(&'static str, InProcess); 2] {
    [
        ("slow", InProcess::new(slow::routes(options))),
        ("fixed", InProcess::new(fixed::routes(options))),
    ]
}
