//! Serves the early-drop step.

use lock_scope::{Options, steps::early_drop};

fn main() -> std::process::ExitCode {
    case_server::main(
        "lock-scope, early-drop: still a mutex, but dropped before a read waits",
        |options: Options| Ok(warp::service(early_drop::routes(options.downstream()))),
    )
}
