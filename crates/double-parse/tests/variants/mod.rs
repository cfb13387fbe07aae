//! All variants behind one type.

use double_parse::{
    NotAFindReply, Summarise, fixed,
    reply::Summary,
    slow,
    steps::{borrowed, no_clone},
};

/// Every variant by name: its way from bytes to a summary.
pub const VARIANTS: [(&str, Summarise); 4] = [
    ("slow", slow::summarise),
    ("no-clone", no_clone::summarise),
    ("fixed", fixed::summarise),
    ("borrowed", borrowed::summarise),
];

/// The answer that all variants have to agree on.
#[allow(dead_code, reason = "not every test asks this way")]
pub fn all_answer(bytes: &[u8]) -> Result<Summary, NotAFindReply> {
    let [(_, slow), others @ ..] = VARIANTS;
    let answer = slow(bytes);
    for (variant, summarise) in others {
        assert_eq!(summarise(bytes), answer, "{variant}: {}", bytes.escape_ascii());
    }
    answer
}
