//! Starts servers and puts load on them for the profilers to watch.

mod heap;
mod observe;
mod subjects;

pub use observe::{Instruments, Watch, first_that_works, window};
pub use subjects::Subjects;
