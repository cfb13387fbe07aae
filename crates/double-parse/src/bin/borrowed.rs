//! Serves the borrowed step.

use case_server::NoOptions;
use double_parse::steps::borrowed;

fn main() -> std::process::ExitCode {
    case_server::main(
        "double-parse, borrowed: the bytes become a struct whose strings point into them",
        |_: NoOptions| Ok(double_parse::routes(borrowed::summarise)),
    )
}
