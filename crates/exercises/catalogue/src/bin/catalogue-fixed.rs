use case_server::NoOptions;

case_server::main!(|_: NoOptions| Ok(catalogue::fixed::routes()));
