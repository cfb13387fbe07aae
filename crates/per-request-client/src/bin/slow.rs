//! Serves the slow variant.

use per_request_client::{Options, slow};

fn main() -> std::process::ExitCode {
    case_server::main("per-request-client, slow: a client for every request", |options: Options| {
        slow::routes(options.upstream()?)
    })
}
