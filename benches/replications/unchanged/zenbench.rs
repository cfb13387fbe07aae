//! The same request, measured by zenbench: two functions of one process that take turns. `OLD_ROUNDS` is the work of the
//! baseline. Prints whether zenbench calls the difference significant. `just replicate unchanged` compiles it apart, because
//! zenbench needs 24 packages that nothing else does.

mod rounds;

use case_server::InProcess;
use hot_clone::variants;
use zenbench::{BenchGroup, Suite};

fn main() {
    let wanted = std::env::var("VARIANT").unwrap_or_else(|_| "slow".to_owned());
    let result = zenbench::run(|suite: &mut Suite| {
        suite.group("unchanged", |group: &mut BenchGroup| {
            for (name, variable) in [("old", "OLD_ROUNDS"), ("new", "ROUNDS")] {
                let (_, routes) = variants().into_iter().find(|(name, _)| *name == wanted).expect("a variant");
                add(group, name, routes, rounds::rounds_of(variable));
            }
            group.baseline("old");
        });
    });
    let analyses = result.comparisons.iter().flat_map(|group| &group.analyses);
    for (_, _, analysis) in analyses {
        println!("significant={} change={:+.2}%", analysis.significant, analysis.pct_change);
    }
}

fn add(group: &mut BenchGroup, name: &str, routes: InProcess, (path, sum): (String, String)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    group.bench(name, move |bencher| {
        bencher.iter(|| {
            assert_eq!(runtime.block_on(routes.get(&path)), (200, sum.clone().into()));
        });
    });
}
