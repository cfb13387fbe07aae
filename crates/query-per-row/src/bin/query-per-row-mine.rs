use query_per_row::{Options, mine};

case_server::main!(|options: Options| Ok(mine::routes(options.open()?)));
