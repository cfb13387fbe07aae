use receipts::{Options, mine};

case_server::main!(|options: Options| Ok(mine::routes(options.templates())));
