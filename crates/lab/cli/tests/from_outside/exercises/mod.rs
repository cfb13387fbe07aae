//! What a reader can fix: which fixes pass the gates, and what the reader is told.

mod attempts;
mod practice;
mod shop;
