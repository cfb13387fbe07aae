//! Serves the no-reuse step.

use per_request_client::{Options, steps::no_reuse};

fn main() -> std::process::ExitCode {
    case_server::main(
        "per-request-client, no-reuse: one client for all requests, which reuses no connection",
        |options: Options| no_reuse::routes(options.upstream()?),
    )
}
