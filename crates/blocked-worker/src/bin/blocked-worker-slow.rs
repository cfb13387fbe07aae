use blocked_worker::{Options, Users, slow};

case_server::main!(|options: Options| Ok(slow::routes(Users::first(options)?)));
