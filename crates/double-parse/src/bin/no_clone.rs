//! Serves the no-clone step.

use case_server::NoOptions;
use double_parse::steps::no_clone;

fn main() -> std::process::ExitCode {
    case_server::main(
        "double-parse, no-clone: the bytes become a document, which becomes a struct",
        |_: NoOptions| Ok(double_parse::routes(no_clone::summarise)),
    )
}
