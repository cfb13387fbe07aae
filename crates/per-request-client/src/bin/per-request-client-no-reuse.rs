case_server::main!(per_request_client::steps::no_reuse::routes);
