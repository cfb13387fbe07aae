use shop::{Options, slow};

case_server::main!(|options: Options| slow::routes(&options));
