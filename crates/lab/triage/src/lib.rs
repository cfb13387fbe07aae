//! `lab triage`: measures one server for a minute and says what limits it.
//!
//! - `measure` puts load on the server at several levels and watches it;
//! - `facts` turns what was measured into figures, and `figure` says what each is;
//! - `rules` are data (`rules.toml`): which figures make a suspect, and what to do about it;
//! - `card` shows the result as text, JSON and a page.

#![warn(clippy::missing_errors_doc)]

mod card;
mod facts;
mod figure;
mod groups;
mod limit;
mod measure;
mod route_time;
mod rules;
mod thresholds;

pub use card::Card;
pub use facts::Facts;
pub use measure::{Measured, Triage};
pub use rules::{Rules, Suspect};
