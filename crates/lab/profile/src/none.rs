//! No profiler: CPU time of the whole process, and spans.

use lab_observation::{Kernel, Profiler};
use lab_system::System;

use super::{Obstacle, Process, Profilers, ReadingFuture, SamplingFuture, SamplingMethod, window};

#[derive(Debug)]
pub struct None;

impl SamplingMethod for None {
    fn profiler(&self) -> Profiler {
        Profiler { name: "none", label: "no profiler", kernel: Kernel::Missing }
    }

    fn look(&self, _: &System, _: bool) -> Result<bool, Obstacle> {
        Ok(true)
    }

    fn sample<'a>(&'a self, _: &'a Profilers, process: Process<'a>) -> SamplingFuture<'a> {
        Box::pin(async move {
            window::pass(process.pid, process.window).await?;
            Ok(Box::pin(async { Ok(Option::None) }) as ReadingFuture<'a>)
        })
    }
}
