//! Serves the slow variant.

use case_server::NoOptions;
use double_parse::slow;

fn main() -> std::process::ExitCode {
    case_server::main(
        "double-parse, slow: the bytes become a document, which is cloned and becomes a struct",
        |_: NoOptions| Ok(double_parse::routes(slow::summarise)),
    )
}
