use lock_scope::{Options, mine};

case_server::main!(|options: Options| Ok(warp::service(mine::routes(options.downstream()))));
