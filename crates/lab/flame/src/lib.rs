//! Shows where a running server spends its time: from a process id to a profile, and from profiles
//! to pictures.
//!
//! - `profilers`: [`Profilers`] samples the stacks of one process, and reads them afterwards.
//! - `stacks`: [`Folded`] stacks are plain data. They are simplified, and scaled to what one request
//!   costs.
//! - `threads`: [`ThreadStates`] shows what each thread did, and in which system call it was blocked.
//! - `seen`: a [`Scene`] is what a page is about, and [`Seen`] everything known of its servers.
//! - `drawing`: [`draw_page`] turns both into pictures, both variants on one scale.
//!
//! Nothing here starts a server or puts load on it: the caller does.

mod profilers;
mod threads;

pub use profilers::{Control, Failure, Profilers, Reading, Subject};
pub use threads::watch_threads;
