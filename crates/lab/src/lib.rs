//! The laboratory: it starts the servers of a case, puts load on them and says what is faster.
//!
//! The laboratory knows nothing of a case's insides. It meets a server at a process boundary: the
//! case file, the line `listening on http://127.0.0.1:PORT`, and HTTP. A case that it measures
//! could be anybody's service.

pub mod bench;
pub mod case;
pub mod cmd;
pub mod count;
pub mod criterion;
pub mod display;
pub mod files;
pub mod load;
pub mod process;
pub mod server;
pub mod stats;
pub mod workspace;
