use small_writes::{Options, fixed};

case_server::main!(serve = fixed::serve, |options: Options| Ok(fixed::routes(options.open()?)));
