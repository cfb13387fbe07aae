//! No profiler: CPU time of the whole process, and spans.

use std::time::Duration;

use lab_observation::{Kernel, Profiler};
use lab_system::System;

use super::{Obstacle, Profile, Profilers, Sampling, Subject, window};

#[derive(Debug)]
pub struct None;

impl Profile for None {
    fn profiler(&self) -> Profiler {
        Profiler { name: "none", label: "no profiler", kernel: Kernel::Missing }
    }

    fn look(&self, _: &System, _: bool) -> Result<bool, Obstacle> {
        Ok(true)
    }

    fn sample<'a>(
        &'a self,
        _: &'a Profilers,
        subject: Subject<'a>,
        length: Duration,
    ) -> Sampling<'a> {
        Box::pin(async move {
            window::pass(subject.pid, length).await?;
            let nothing: super::Reading<'a> = Box::pin(async { Ok(Option::None) });
            Ok(nothing)
        })
    }
}
