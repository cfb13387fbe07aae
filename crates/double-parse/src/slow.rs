//! Parses the reply, and sums it up.

use bson::Document;
use serde::de::DeserializeOwned;

use crate::reply::{FindReply, Summary};

/// Not inlined, so that a profile shows it under its own name.
#[inline(never)]
pub fn summarise(bytes: &[u8]) -> Result<Summary, bson::error::Error> {
    let response = CommandResponse { raw_response: Document::from_reader(bytes)? };
    let reply: FindReply<String> = response.body()?;
    Ok(reply.summary())
}

/// The answer to a command of any kind.
struct CommandResponse {
    raw_response: Document,
}

impl CommandResponse {
    /// The body as the type that the command's caller expects.
    #[inline(never)]
    #[expect(clippy::disallowed_methods, reason = "the fault that this case is about")]
    fn body<T: DeserializeOwned>(&self) -> Result<T, bson::error::Error> {
        bson::deserialize_from_document(self.raw_response.clone())
    }
}
