//! The two costs between slow and fixed, one at a time.

pub mod no_reuse;
pub mod shared_connector;
