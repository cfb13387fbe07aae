case_server::main!(per_request_client::steps::shared_connector::routes);
