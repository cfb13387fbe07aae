use case_server::NoOptions;
use double_parse::{routes, steps::borrowed};

case_server::main!(|_: NoOptions| Ok(routes(borrowed::summarise)));
