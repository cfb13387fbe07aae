use case_server::NoOptions;

case_server::main!(|_: NoOptions| Ok(warp::service(hot_clone::mine::routes())));
