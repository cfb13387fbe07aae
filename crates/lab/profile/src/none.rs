//! No profiler: CPU time of the whole process, and spans.

use lab_observation::{Kernel, Profiler};
use lab_system::System;

use super::{Obstacle, Process, Profile, Profilers, Reading, Sampling, window};

#[derive(Debug)]
pub struct None;

impl Profile for None {
    fn profiler(&self) -> Profiler {
        Profiler { name: "none", label: "no profiler", kernel: Kernel::Missing }
    }

    fn look(&self, _: &System, _: bool) -> Result<bool, Obstacle> {
        Ok(true)
    }

    fn sample<'a>(&'a self, _: &'a Profilers, process: Process<'a>) -> Sampling<'a> {
        Box::pin(async move {
            window::pass(process.pid, process.window).await?;
            Ok(Box::pin(async { Ok(Option::None) }) as Reading<'a>)
        })
    }
}
