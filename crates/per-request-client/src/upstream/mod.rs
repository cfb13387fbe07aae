//! The site behind the proxy: HTTPS on the loopback, one page of 19 resources, and an exact count
//! of the connections that it took to load them.
//!
//! It stands for somebody else's server, so it is a process of its own, and the lesson does not
//! touch it. Tests and benches run it on a thread of theirs, as [`Background`].

mod answer;
mod background;
pub mod bundle;
mod certificate;
mod counters;
mod server;
pub mod site;

pub use background::Background;
pub use counters::{Counted, Counters};
pub use server::Server;
