//! Serves the fixed variant.

use case_server::NoOptions;
use double_parse::fixed;

fn main() -> std::process::ExitCode {
    case_server::main("double-parse, fixed: the bytes become a struct", |_: NoOptions| {
        Ok(double_parse::routes(fixed::summarise))
    })
}
