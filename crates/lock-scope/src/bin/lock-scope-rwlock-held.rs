use lock_scope::{Options, steps::rwlock_held};

case_server::main!(|options: Options| Ok(warp::service(rwlock_held::routes(options.downstream()))));
