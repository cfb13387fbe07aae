//! The whole numbers of a query such as `ms=5000&hz=499`.

use std::ops::RangeInclusive;

use hyper::{StatusCode, Uri};

/// What stands behind the `?`.
#[derive(Clone, Copy)]
pub(super) struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    pub(super) fn of(uri: &'a Uri) -> Self {
        Self(uri.query().unwrap_or_default())
    }

    /// The number called `name`, or the `usual` one if it is not given; an error, fit for an
    /// answer, if it is no number or out of `bounds`.
    pub(super) fn number(
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
