case_server::main!(|options| Ok(workshop::fixed::routes(options)));
