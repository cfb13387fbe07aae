use blocked_worker::{Options, Users, WORKERS, fixed};

case_server::main!(workers = WORKERS, |options: Options| Ok(fixed::routes(Users::first(options)?)));
