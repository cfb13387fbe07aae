//! Serves the slow variant.

use case_server::NoOptions;
use hot_clone::slow;

fn main() -> std::process::ExitCode {
    case_server::main("hot-clone, slow: every round clones the ids", |_: NoOptions| {
        Ok(warp::service(slow::routes()))
    })
}
