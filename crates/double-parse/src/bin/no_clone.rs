//! Serves the no-clone step.

use case_server::NoOptions;
use double_parse::steps::no_clone;

fn main() -> std::process::ExitCode {
    case_server::main(
        "double-parse, no-clone: the bytes become a document, the document becomes a struct",
        |_: NoOptions| Ok(no_clone::routes()),
    )
}
