//! The book from its sources: `book/` fills the markers of the chapters, and `publish/` collects the
//! newest results as a record that they quote.
//!
//! It is a program apart from `lab`, since only who works on the course needs it.

pub mod book;
#[cfg(test)]
mod fixture;
mod publish;

pub use publish::publish;
