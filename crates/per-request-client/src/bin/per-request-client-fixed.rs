case_server::main!(per_request_client::fixed::routes);
