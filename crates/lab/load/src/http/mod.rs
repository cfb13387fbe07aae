//! The parts of HTTP/1.1 that a load generator needs: requests serialized once, and answers parsed
//! as they arrive.
//!
//! A general client does more per request: it builds the request again, passes the answer through
//! channels and allocates. That costs as much CPU time as a fast server needs to answer, on the
//! same machine. The parser is `httparse`, which hyper uses too.

mod body;
mod head;
mod request;

pub use body::Body;
pub use head::{Framing, Head, IN_HTTP2, IN_TLS, WEBSOCKET, other_protocol};
pub(crate) use request::Http2Request;
pub use request::WireRequest;
pub(crate) use request::body_of;
