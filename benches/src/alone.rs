//! Each benchmark of a bench in a process of its own.
//!
//! What a process has allocated before changes what the next benchmark costs: after the small replies of
//! `sweep_double_parse`, glibc gives memory back and takes it again in each parse of the largest one, which is 6,500 page
//! faults, and none in a fresh process. A server that gets only the largest reply is such a fresh process.

use std::{
    env, io,
    process::{Command, ExitStatus, exit},
};

/// Flags that take no value and ask for no single benchmark. With others, all benchmarks share a process.
const PLAIN: [&str; 5] = ["--bench", "--quick", "--noplot", "--quiet", "--verbose"];

/// Starts this program again for each of its benchmarks, if cargo measures them all. Returns whether it did.
///
/// # Errors
///
/// If it can't be started again. If a benchmark fails, the process ends with its exit code.
pub fn ran_each_alone() -> io::Result<bool> {
    let args: Vec<_> = env::args().skip(1).collect();
    let measures = args.iter().any(|it| it == "--bench");
    if !measures || args.iter().any(|it| !PLAIN.contains(&&**it)) {
        return Ok(false);
    }
    let program = env::current_exe()?;
    let listed = Command::new(&program).args(&args).arg("--list").output()?;
    end_if_failed(listed.status);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for benchmark in listed.lines().filter_map(|line| line.strip_suffix(": benchmark")) {
        let alone = ["--exact", benchmark];
        end_if_failed(Command::new(&program).args(&args).args(alone).status()?);
    }
    Ok(true)
}

fn end_if_failed(status: ExitStatus) {
    if !status.success() {
        exit(status.code().unwrap_or(1));
    }
}

/// In place of `criterion_main!`: each benchmark in a process of its own.
#[macro_export]
macro_rules! each_alone {
    ($group:ident) => {
        fn main() -> std::io::Result<()> {
            if !$crate::ran_each_alone()? {
                $group();
                criterion::Criterion::default().configure_from_args().final_summary();
            }
            Ok(())
        }
    };
}
