//! The whole numbers of a query such as `ms=5000&hz=499`.

use std::ops::RangeInclusive;

use hyper::{StatusCode, Uri};

/// The part of a target after the `?`.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    pub(crate) fn of(uri: &'a Uri) -> Self {
        Self(uri.query().unwrap_or_default())
    }

    /// The number called `name`, or `usual` if it is missing. The error is an answer that says that it
    /// is not a number or not within `bounds`.
    pub(crate) fn number(
        self,
        name: &str,
        usual: u64,
        bounds: RangeInclusive<u64>,
    ) -> Result<u64, (StatusCode, String)> {
        let mut pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        let Some((_, given)) = pairs.find(|(given, _)| *given == name) else { return Ok(usual) };
        given.parse().ok().filter(|number| bounds.contains(number)).ok_or_else(|| {
            let (least, most) = bounds.into_inner();
            (
                StatusCode::BAD_REQUEST,
                format!("{name} has to be a whole number from {least} to {most}"),
            )
        })
    }
}
