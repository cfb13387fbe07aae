//! Serves the fixed variant.

use per_request_client::{Options, fixed};

fn main() -> std::process::ExitCode {
    case_server::main(
        "per-request-client, fixed: one client for all requests",
        |options: Options| fixed::routes(options.upstream()?),
    )
}
