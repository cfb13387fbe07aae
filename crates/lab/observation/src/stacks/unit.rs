//! What the weights in a flame graph count, for one request.

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    Nanoseconds,
    Bytes,
}
