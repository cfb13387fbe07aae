case_server::main!(|options| Ok(workshop::mine::routes(options)));
