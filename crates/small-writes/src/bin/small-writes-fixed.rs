use small_writes::{Labels, Options, fixed};

case_server::main!(serve = fixed::serve, |options: Options| Ok(fixed::routes(Labels::first(
    options
))));
