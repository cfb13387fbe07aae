use shop::{Options, mine};

case_server::main!(|options: Options| mine::routes(&options));
