//! Serves the slow variant.

use lock_scope::{Options, slow};

fn main() -> std::process::ExitCode {
    case_server::main(
        "lock-scope, slow: a read holds the lock while it waits",
        |options: Options| Ok(warp::service(slow::routes(options.downstream()))),
    )
}
