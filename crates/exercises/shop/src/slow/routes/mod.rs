//! What the shop answers, by what its visitors do.

pub mod account;
pub mod basket;
pub mod catalogue;
pub mod checkout;

use super::{Failure, SharedShop, render, sessions, stock};
