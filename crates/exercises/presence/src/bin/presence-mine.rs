case_server::main!(|options| Ok(presence::mine::routes(options)));
