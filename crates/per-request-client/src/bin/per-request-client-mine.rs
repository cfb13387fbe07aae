case_server::main!(per_request_client::mine::routes);
