//! All variants give the same answers: to good replies, to odd ones and to broken ones.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod broken;
mod odd;

use double_parse::{NotAFindReply, VARIANTS, reply::Summary, shape};

/// The answer of every variant, which must be the same. As in the router, the shape is checked first.
fn all_answer(bytes: &[u8]) -> Result<Summary, NotAFindReply> {
    shape::check(bytes)?;
    let [(_, slow), others @ ..] = VARIANTS;
    let answer = slow(bytes);
    for (variant, summarise) in others {
        assert_eq!(summarise(bytes), answer, "{variant}: {}", bytes.escape_ascii());
    }
    answer
}
