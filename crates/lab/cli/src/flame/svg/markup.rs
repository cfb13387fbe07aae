//! The little that is needed of SVG as text.

use anyhow::Context as _;

/// What is in front of `at`, and what is behind it.
///
/// # Errors
///
/// If it is not there.
pub fn split<'a>(text: &'a str, at: &str) -> anyhow::Result<(&'a str, &'a str)> {
    text.split_once(at).with_context(|| format!("inferno's picture has no `{at}`"))
}

/// What is between `start` and the next `end`.
pub fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}

/// `text` as it has to be written.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What was written, as it was meant.
pub fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}
