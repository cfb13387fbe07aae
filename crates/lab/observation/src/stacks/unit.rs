//! The unit of the weights in a flame graph, for one request.

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    Nanoseconds,
    Bytes,
}
