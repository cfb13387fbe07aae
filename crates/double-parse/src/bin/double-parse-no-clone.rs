use case_server::NoOptions;
use double_parse::{routes, steps::no_clone};

case_server::main!(|_: NoOptions| Ok(routes(no_clone::summarise)));
