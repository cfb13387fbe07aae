case_server::main!(|options| Ok(presence::fixed::routes(options)));
