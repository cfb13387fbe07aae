use small_writes::{Labels, Options, mine};

case_server::main!(serve = mine::serve, |options: Options| Ok(mine::routes(Labels::first(
    options
))));
