//! Serves the rwlock-held step.

use lock_scope::{Options, steps::rwlock_held};

fn main() -> std::process::ExitCode {
    case_server::main(
        "lock-scope, rwlock-held: reads share the lock, but hold it while they wait",
        |options: Options| Ok(warp::service(rwlock_held::routes(options.downstream()))),
    )
}
