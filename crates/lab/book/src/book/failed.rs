//! An error as minijinja has it.

use minijinja::{Error, ErrorKind};

pub fn failed(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("{why:#}"))
}
