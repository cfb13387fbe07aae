use case_server::NoOptions;
use double_parse::{mine, routes};

case_server::main!(|_: NoOptions| Ok(routes(mine::summarise)));
