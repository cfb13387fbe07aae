use case_server::NoOptions;
use double_parse::{fixed, routes};

case_server::main!(|_: NoOptions| Ok(routes(fixed::summarise)));
