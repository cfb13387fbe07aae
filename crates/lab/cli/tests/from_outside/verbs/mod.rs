//! What each verb does: what it prints, the files that it writes, and its errors.

mod bench;
mod besides;
mod compare;
mod flame;
mod http2;
mod limits;
mod objective;
mod records;
mod refusals;
mod sessions;
mod smaller;
mod triage;
mod until;
