//! The site behind the proxy of the case per-request-client: HTTPS on the loopback, one page of 19
//! resources, and exact counts of connections and handshakes.
//!
//! It stands for somebody else's server, so it is a process of its own. Tests and benches run it on a
//! thread, as [`Background`].

mod answer;
mod background;
pub mod bundle;
mod certificate;
mod counters;
mod server;
pub mod site;

pub use background::Background;
pub use certificate::for_loopback;
pub use counters::{Counted, Counters};
pub use server::Server;
