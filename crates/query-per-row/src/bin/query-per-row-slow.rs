use query_per_row::{Options, slow};

case_server::main!(|options: Options| Ok(slow::routes(options.open()?)));
