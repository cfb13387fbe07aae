use case_server::NoOptions;
use double_parse::{routes, slow};

case_server::main!(|_: NoOptions| Ok(routes(slow::summarise)));
