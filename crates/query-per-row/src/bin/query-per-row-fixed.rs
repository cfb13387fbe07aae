use query_per_row::{Options, fixed};

case_server::main!(|options: Options| Ok(fixed::routes(options.open()?)));
