//! One change alone: `body` takes the document, so nothing is cloned.

use bson::Document;

use crate::reply::{FindReply, Summary};

/// Not inlined, so that a profile shows it under its own name.
#[inline(never)]
pub fn summarise(bytes: &[u8]) -> Result<Summary, bson::error::Error> {
    let response = CommandResponse { raw_response: Document::from_reader(bytes)? };
    Ok(response.body()?.summary())
}

/// The answer to a command.
struct CommandResponse {
    raw_response: Document,
}

impl CommandResponse {
    /// The body as the struct that the caller expects.
    #[inline(never)]
    #[expect(clippy::disallowed_methods, reason = "half of the fault that this case is about")]
    fn body(self) -> Result<FindReply<String>, bson::error::Error> {
        bson::deserialize_from_document(self.raw_response)
    }
}
