use per_request_client::{Options, steps::no_reuse};

case_server::main!(|options: Options| no_reuse::routes(options.upstream()?));
