//! Serves the fixed variant.

use case_server::NoOptions;
use hot_clone::fixed;

fn main() -> std::process::ExitCode {
    case_server::main("hot-clone, fixed: every round borrows the ids", |_: NoOptions| {
        Ok(warp::service(fixed::routes()))
    })
}
