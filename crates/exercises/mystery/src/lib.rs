//! A server to practise on: an order service that has no fault, one, or two of ten. Its seed decides.
//!
//! Every fault is a few lines next to the healthy ones, and the answers are always the same. If you want to
//! play, don't read [`audit`], [`orders`], [`stock`] and [`shop`] first.

pub mod audit;
pub mod faults;
pub mod guess;
pub mod orders;
pub mod score;
pub mod shop;
pub mod stock;
pub mod triage;
