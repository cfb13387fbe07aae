case_server::main!(|options| Ok(presence::slow::routes(options)));
