//! Folded stacks, shared with the pictures until those are a crate of their own.

#![allow(dead_code, reason = "what the pictures use")]

#[path = "../../cli/src/flame/folded.rs"]
mod folded;
#[path = "../../cli/src/flame/top.rs"]
mod top;
#[path = "../../cli/src/flame/unit.rs"]
mod unit;
mod view {
    pub const KERNEL: &str = "kernel";
}

pub use folded::Folded;
pub use top::top_inclusive;
pub use unit::Unit;
