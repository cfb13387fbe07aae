//! A shop that has no prices of its own: it asks a wholesaler for each quote.
//!
//! `wholesaler.rs` has the wholesaler; [`slow`] has the shop's service.

#[path = "../../solutions/quotes.rs"]
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
#[expect(clippy::all, reason = "this is the service to improve")]
pub mod slow;
mod wholesaler;

pub use wholesaler::{Depot, MOST_CONNECTIONS, Wholesaler, change_routes};

/// The service's own flags.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Options {
    /// Milliseconds that the wholesaler needs to answer for its far depot
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(..=10_000))]
    pub far_ms: u64,

    /// Milliseconds that the wholesaler needs to answer for its near depot
    #[arg(long, value_name = "MS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(..=10_000))]
    pub near_ms: u64,
}
