use blocked_worker::{Options, Users, fixed};

case_server::main!(|options: Options| Ok(fixed::routes(Users::first(options)?)));
