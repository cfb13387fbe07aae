use blocked_worker::{Options, Users, mine};

case_server::main!(|options: Options| Ok(mine::routes(Users::first(options)?)));
