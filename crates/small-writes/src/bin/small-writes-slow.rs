use small_writes::{Labels, Options, slow};

case_server::main!(serve = slow::serve, |options: Options| Ok(slow::routes(Labels::first(
    options
))));
