//! When does it matter that a reply is parsed twice? The parameter is the number of its documents. The
//! time includes the HTTP handling, but no socket.

use case_server::InProcess;
use criterion::{BenchmarkId, Criterion, criterion_group};
use double_parse::{SIZES, fixed, routes, slow};

fn double_parse(c: &mut Criterion) {
    let runtime = benches::runtime();
    let variants = [
        ("slow", InProcess::new(routes(slow::summarise))),
        ("fixed", InProcess::new(routes(fixed::summarise))),
    ];
    let mut group = c.benchmark_group("sweep-double-parse");
    for documents in SIZES {
        let path = format!("/summary?documents={documents}");
        let begins = format!(r#"{{"namespace":"foo.bar","documents":{documents},"#);
        for (variant, service) in &variants {
            group.bench_function(BenchmarkId::new(*variant, documents), |bencher| {
                bencher.to_async(&runtime).iter(async || {
                    let (status, summary) = service.get(&path).await;
                    assert_eq!(status, 200);
                    assert!(summary.starts_with(begins.as_bytes()));
                });
            });
        }
    }
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = double_parse }
benches::each_alone!(benches);
