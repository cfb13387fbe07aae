use shop::stock_service::{self, Options};

case_server::main!(|options: Options| Ok(stock_service::routes(options)));
