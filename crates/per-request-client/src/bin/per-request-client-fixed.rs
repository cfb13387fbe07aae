use per_request_client::{Options, fixed};

case_server::main!(|options: Options| fixed::routes(options.upstream()?));
