//! The exercises and the shop: which fixes pass the gates of `just check`, and what the reader sees.

mod attempts;
mod practice;
mod shop;
mod watch;
