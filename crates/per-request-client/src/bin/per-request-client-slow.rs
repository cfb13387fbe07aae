use per_request_client::{Options, slow};

case_server::main!(|options: Options| slow::routes(options.upstream()?));
