use receipts::{Options, slow};

case_server::main!(|options: Options| Ok(slow::routes(options.templates())));
