//! Shows where a running server spends its time: from a process id to a profile, and from profiles
//! to pictures.
//!
//! [`profilers`] records stacks of one process. [`stacks`] are plain data: they are simplified, and
//! scaled to what one request costs. [`seen`] is everything known about the servers of a page, and
//! [`drawing`] turns it into pictures, both variants on one scale. Nothing here starts a server or
//! puts load on it: that is the caller's.

pub mod drawing;
pub mod profilers;
pub mod seen;
pub mod stacks;
