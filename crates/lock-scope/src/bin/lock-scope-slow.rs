use lock_scope::{Options, slow};

case_server::main!(|options: Options| Ok(warp::service(slow::routes(options.downstream()))));
