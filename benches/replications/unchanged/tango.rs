//! The same request, measured by tango: two processes that take turns.

mod rounds;

use std::rc::Rc;

use case_server::InProcess;
use hot_clone::variants;
use tango_bench::{Benchmark, benchmark_fn, tango_benchmarks};

fn request() -> Vec<Benchmark> {
    let runtime = Rc::new(benches::runtime());
    let (path, sum) = rounds::rounds();
    let of_variant = |(variant, routes): (&str, InProcess)| {
        let call = Rc::new((Rc::clone(&runtime), routes, path.clone(), sum.clone()));
        benchmark_fn(variant, move |bencher| {
            let call = Rc::clone(&call);
            bencher.iter(move || {
                let (runtime, routes, path, sum) = &*call;
                assert_eq!(runtime.block_on(routes.get(path)), (200, sum.clone().into()));
            })
        })
    };
    variants().into_iter().map(of_variant).collect()
}

tango_benchmarks!(request());
