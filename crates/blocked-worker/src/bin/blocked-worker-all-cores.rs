use blocked_worker::{Options, Users, steps::all_cores};

case_server::main!(|options: Options| Ok(all_cores::routes(Users::first(options)?)));
