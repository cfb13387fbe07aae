use small_writes::{Options, mine};

case_server::main!(serve = mine::serve, |options: Options| Ok(mine::routes(options.open()?)));
