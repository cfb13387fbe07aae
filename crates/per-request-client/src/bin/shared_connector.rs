//! Serves the shared-connector step.

use per_request_client::{Options, steps::shared_connector};

fn main() -> std::process::ExitCode {
    case_server::main(
        "per-request-client, shared-connector: a client for every request, over one connector",
        |options: Options| shared_connector::routes(options.upstream()?),
    )
}
