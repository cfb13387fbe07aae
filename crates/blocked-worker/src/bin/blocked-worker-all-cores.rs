use blocked_worker::{Options, Users, WORKERS, steps::all_cores};

case_server::main!(workers = WORKERS, |options: Options| Ok(all_cores::routes(Users::first(
    options
)?)));
