case_server::main!(per_request_client::slow::routes);
