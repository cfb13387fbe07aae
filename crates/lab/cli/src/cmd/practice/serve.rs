//! `lab practice serve`: a server and what it needs, until Ctrl-C.

use std::process::ExitCode;

use lab_cases::{MINE, SLOW, Workspace};
use lab_report::translate;
use lab_servers::{Launch, Running, build_servers};
use lab_system::{err, out};

use super::Named;
use crate::cmd::{Places, interruptible};

#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    named: Named,
    /// Your own state in place of the slow one
    #[arg(long)]
    mine: bool,
}

pub fn run(places: &Places, workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let case = options.named.find(workspace)?;
    let variant = if options.mine { MINE } else { SLOW };
    let server = case.server(variant);
    let companions = case.companions.iter().map(|companion| companion.bin.clone());
    let binaries: Vec<_> = companions.chain([server]).collect();
    let served = interruptible(async {
        places.build_unless_given((), build_servers(workspace, &binaries, &[])).await?;
        let launch = Launch::of_case(workspace, &case, variant)?;
        Running::with(&launch, async |running| {
            let url = |url: &dyn ToString| url.to_string().trim_end_matches('/').to_owned();
            for (companion, server) in case.companions.iter().zip(&running.companions) {
                out!("  {:8}  {}", companion.name, url(server.url()));
            }
            let at = url(running.server.url());
            out!("  {:8}  {at}", case.shown);
            for request in case.requests.iter().filter(|timed| timed.request.method == "GET") {
                out!("  {:8}  curl '{at}{}'", "try", request.request.path);
            }
            err!("  {}", translate!("Ctrl-C ends it"));
            std::future::pending::<anyhow::Result<()>>().await
        })
        .await
    })?;
    debug_assert!(served.is_none(), "a server runs until a signal comes");
    Ok(ExitCode::SUCCESS)
}
