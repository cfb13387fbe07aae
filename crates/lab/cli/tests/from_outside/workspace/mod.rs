//! What `lab` finds around a server: its packages, revisions and pull requests, and engines to load it.

mod as_checked_out;
mod bisect;
mod engine;
mod packages;
mod places;
mod pull_request;
mod revisions;
