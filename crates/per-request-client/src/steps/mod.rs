//! The two changes between slow and fixed, each measured alone.

pub mod no_reuse;
pub mod shared_connector;
