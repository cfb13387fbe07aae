use blocked_worker::{Options, Users, WORKERS, slow};

case_server::main!(workers = WORKERS, |options: Options| Ok(slow::routes(Users::first(options)?)));
