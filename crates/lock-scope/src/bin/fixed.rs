//! Serves the fixed variant.

use lock_scope::{Options, fixed};

fn main() -> std::process::ExitCode {
    case_server::main(
        "lock-scope, fixed: a read releases the lock before it waits",
        |options: Options| Ok(warp::service(fixed::routes(options.downstream()))),
    )
}
