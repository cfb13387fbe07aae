//! Starts servers and puts load on them for the profilers to watch.

mod heap;
mod observe;
mod progress;
mod subjects;

pub use observe::{Watch, first_that_works};
pub use progress::Progress;
pub use subjects::Subjects;
