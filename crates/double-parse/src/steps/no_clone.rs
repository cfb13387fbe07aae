//! One change alone: the body takes the document as its own, so that nothing is cloned.

use axum::Router;
use bson::Document;
use serde::de::DeserializeOwned;

use crate::{
    NotAFindReply,
    reply::{FindReply, Summary},
    shape,
};

/// The service's routes.
pub fn routes() -> Router {
    crate::routes(summarise)
}

/// Sums up the reply in `bytes`.
///
/// # Errors
///
/// If they are not the reply to a find.
pub fn summarise(bytes: &[u8]) -> Result<Summary, NotAFindReply> {
    shape::check(bytes)?;
    parse(bytes)?.summary()
}

/// Never inlined, so that a profile shows it under its own name.
#[inline(never)]
fn parse(bytes: &[u8]) -> Result<FindReply<String>, bson::error::Error> {
    let response = CommandResponse { raw_response: Document::from_reader(bytes)? };
    response.body()
}

/// What came back for a command, of whatever kind the command was.
struct CommandResponse {
    raw_response: Document,
}

impl CommandResponse {
    /// The body as the type that the command's caller expects, who has no other use for the rest.
    #[inline(never)]
    #[expect(clippy::disallowed_methods, reason = "half of the fault that this case is about")]
    fn body<T: DeserializeOwned>(self) -> Result<T, bson::error::Error> {
        bson::deserialize_from_document(self.raw_response)
    }
}
