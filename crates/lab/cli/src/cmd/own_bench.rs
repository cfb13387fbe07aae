//! The benches that `lab compare` runs instead of servers.

use std::path::PathBuf;

use lab_measure::micro::BenchSide;
use lab_servers::{Artifact, Built, Launch, Revisions};
use lab_system::without_secrets;

use super::{
    Places,
    effort::EffortOptions,
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
        args.extend(effort.flags_of_criterion());
        let mut sides = Vec::new();
        for (at, (name, side)) in names.into_iter().zip(&given).enumerate() {
            let launches = match &revisions {
                None => vec![Launch::of_command(&name, &side.given)?],
                Some((_, built)) => {
                    let Built { programs, dir, env, unset, .. } = &built[at];
                    let launch = |program: &PathBuf| Launch {
                        name: name.clone(),
                        program: program.clone(),
                        args: args.clone(),
                        env: env.clone(),
                        unset: unset.clone(),
                        dir: Some(dir.clone()),
                        ..Launch::default()
                    };
                    programs.iter().map(launch).collect()
                }
            };
            let built = revisions.as_ref().map(|(_, built)| &built[at]);
            let besides = built.map(|built| built.besides.clone()).unwrap_or_default();
            let given = without_secrets(&side.given);
            sides.push(BenchSide { name, given, besides, launches });
        }
        Ok(Self { what, sides, _revisions: revisions.map(|(revisions, _)| revisions) })
    }
}
