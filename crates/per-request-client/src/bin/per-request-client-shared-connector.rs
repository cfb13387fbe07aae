use per_request_client::{Options, steps::shared_connector};

case_server::main!(|options: Options| shared_connector::routes(options.upstream()?));
