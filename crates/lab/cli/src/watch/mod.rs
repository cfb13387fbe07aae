//! What starts servers and loads them for the profilers to watch.

mod observe;
mod progress;
mod scene;
mod visits;

pub use progress::Progress;
pub use scene::Subjects;
