//! The whole numbers of a query such as `ms=5000&hz=499`.

use std::ops::RangeInclusive;

use hyper::{StatusCode, Uri};

/// The number called `name` in the query of `uri`, or `usual` if it is missing. The error is an answer
/// that says that it is not a number or not within `bounds`.
pub(crate) fn number(
    uri: &Uri,
    name: &str,
    usual: u64,
    bounds: RangeInclusive<u64>,
) -> Result<u64, (StatusCode, String)> {
    let query = uri.query().unwrap_or_default();
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let Some((_, given)) = pairs.find(|(given, _)| *given == name) else { return Ok(usual) };
    given.parse().ok().filter(|number| bounds.contains(number)).ok_or_else(|| {
        let (least, most) = bounds.into_inner();
        let error = format!("{name} has to be a whole number from {least} to {most}");
        (StatusCode::BAD_REQUEST, error)
    })
}
