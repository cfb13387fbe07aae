use lock_scope::{Options, fixed};

case_server::main!(|options: Options| Ok(warp::service(fixed::routes(options.downstream()))));
