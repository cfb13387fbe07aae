//! The benches that `lab compare` runs instead of servers.

use std::path::PathBuf;

use lab_measure::micro::BenchSide;
use lab_servers::{Artifact, Built, Launch, Revisions};
use lab_system::without_secrets;

use super::{
    Places,
    effort::{EffortOptions, flags_of_criterion},
    sides::{SideOptions, names},
};

/// The benches of all sides.
pub struct OwnBenches {
    /// What they are, in words.
    pub what: String,
    pub sides: Vec<BenchSide>,
    _revisions: Option<Revisions>,
}

impl OwnBenches {
    /// Looks them up, and builds those of revisions.
    pub async fn open(
        places: &Places,
        options: &SideOptions,
        effort: &EffortOptions,
    ) -> anyhow::Result<Self> {
        let given = options.typed();
        let names = names(&given)?;
        let (what, revisions) = match &options.bench[..] {
            [name, ..] => {
                let bench = Artifact::bench(name)?;
                let built = options.revisions(places, &bench).await?;
                (format!("the bench {}", bench.name), Some(built))
            }
            [] => ("benches".to_owned(), None),
        };
        // Cargo's own argument for a bench, and the filter.
        let mut args = vec!["--bench".to_owned()];
        args.extend(options.bench.iter().skip(1).chain(&options.args).cloned());
        args.extend(flags_of_criterion(effort.warm_up, effort.measurement));
        let mut sides = Vec::new();
        for (at, (name, side)) in names.into_iter().zip(&given).enumerate() {
            let given = without_secrets(&side.given);
            let launches = match &revisions {
                None => vec![Launch::of_command(&name, &side.given)?],
                Some((_, built)) => launches_of(&name, &built[at], &args),
            };
            let built = revisions.as_ref().map(|(_, built)| &built[at]);
            let besides = built.map(|built| built.besides.clone()).unwrap_or_default();
            sides.push(BenchSide { name, given, besides, launches });
        }
        Ok(Self { what, sides, _revisions: revisions.map(|(revisions, _)| revisions) })
    }
}

/// How to start a bench that was built, once for each layout.
pub fn launches_of(name: &str, built: &Built, args: &[String]) -> Vec<Launch> {
    let Built { programs, dir, env, unset, .. } = built;
    let launch = |program: &PathBuf| Launch {
        name: name.to_owned(),
        program: program.clone(),
        args: args.to_owned(),
        env: env.clone(),
        unset: unset.clone(),
        dir: Some(dir.clone()),
        ..Launch::default()
    };
    programs.iter().map(launch).collect()
}
