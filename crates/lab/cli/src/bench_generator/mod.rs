//! Our generator and wrk as two rivals that are run and measured alike: as whole processes, on the
//! generator's core, with the CPU time that the system charged them for at their end.

pub mod answer;
pub mod ours;
mod server;
pub mod wrk;

pub use server::AnswerServer;

/// Who generates the load.
#[derive(Clone, Copy, Debug)]
pub enum Rival {
    /// `lab generate`.
    Ours,
    /// wrk.
    Wrk,
}

/// What one run of a rival showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Answers per second.
    pub throughput: f64,
    /// CPU time of the generator per answer, in microseconds.
    pub cpu_us: f64,
}
