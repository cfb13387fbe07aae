use receipts::{Options, fixed};

case_server::main!(|options: Options| Ok(fixed::routes(options.templates())));
