use blocked_worker::{Options, Users, WORKERS, mine};

case_server::main!(workers = WORKERS, |options: Options| Ok(mine::routes(Users::first(options)?)));
