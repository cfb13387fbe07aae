use small_writes::{Options, slow};

case_server::main!(serve = slow::serve, |options: Options| Ok(slow::routes(options.open()?)));
