use shop::{Options, fixed};

case_server::main!(|options: Options| fixed::routes(&options));
