//! Servers, signals and machines that make it hard to measure: `lab` gives no false result and leaves no process.

mod cut_short;
mod malicious;
mod reach;
mod right_server;
mod slow;
mod supervisor;
