use case_server::NoOptions;

case_server::main!(|_: NoOptions| Ok(warp::service(timesheet::mine::routes())));
