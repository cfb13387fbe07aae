use blocked_worker::{Options, Users, steps::unbounded};

case_server::main!(|options: Options| Ok(unbounded::routes(Users::first(options)?)));
