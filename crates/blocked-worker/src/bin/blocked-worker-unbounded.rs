use blocked_worker::{Options, Users, WORKERS, steps::unbounded};

case_server::main!(workers = WORKERS, |options: Options| Ok(unbounded::routes(Users::first(
    options
)?)));
