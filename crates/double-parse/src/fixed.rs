//! The fix: the bytes become the struct directly, because nothing else needs a document.

use crate::reply::{FindReply, Summary};

/// Not inlined, so that a profile shows it under its own name.
#[inline(never)]
pub fn summarise(bytes: &[u8]) -> Result<Summary, bson::error::Error> {
    let reply: FindReply<String> = bson::deserialize_from_slice(bytes)?;
    Ok(reply.summary())
}
