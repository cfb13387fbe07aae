//! What a timeline of a read shows: each span lasts from its making to its drop.
//!
//! Nobody listens but a server that is built to be profiled. In any other a span is one check of a
//! flag.

use tracing::{Span, info_span};

/// From asking for the lock until it is got.
pub(crate) fn lock_wait() -> Span {
    info_span!("lock wait")
}

/// As long as the guard lives: made right after it, and so dropped right before it.
pub(crate) fn lock_held() -> Span {
    info_span!("lock held")
}

/// As long as the downstream takes.
pub(crate) fn downstream_wait() -> Span {
    info_span!("downstream wait")
}
