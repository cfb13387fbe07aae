use query_per_row::{Options, steps::in_list};

case_server::main!(|options: Options| Ok(in_list::routes(options.open()?)));
