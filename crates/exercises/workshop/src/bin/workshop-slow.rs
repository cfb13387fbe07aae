case_server::main!(|options| Ok(workshop::slow::routes(options)));
