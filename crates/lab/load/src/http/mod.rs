//! As much of HTTP/1.1 as a load generator needs: requests that are written down once, and answers
//! that are taken apart as they arrive.
//!
//! A general client does more for each request than a generator may: it builds the request anew,
//! passes the answer through channels, and hands the body out in pieces of its own. That would cost
//! as much CPU time as a fast server needs to answer, and both share one machine.

mod body;
mod head;
mod request;

pub use body::Body;
pub use head::{Framing, Head};
pub use request::Prepared;
