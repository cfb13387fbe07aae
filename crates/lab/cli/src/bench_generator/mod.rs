//! Our generator and wrk, run and measured in the same way: as whole processes on the generator's
//! core, with the CPU time that the system reports at their end.

pub mod answer;
pub mod ours;
pub mod wrk;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Answers per second.
    pub throughput: f64,
    /// CPU time of the generator per answer, in microseconds.
    pub cpu_us: f64,
}
