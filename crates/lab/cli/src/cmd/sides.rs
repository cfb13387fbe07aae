//! The sides of `lab compare`: commands, revisions, or servers that run already.

use std::{net::SocketAddr, path::Path};

use anyhow::{Context as _, bail, ensure};
use http::Uri;
use lab_protocol::{Request, Target};
use lab_report::plural;
use lab_servers::{Artifact, Built, Launch, RequestOptions, Revisions, Subject};
use lab_system::{err, without_secrets};

use super::{Places, server_options::OwnServer, side::Side};

/// Options that say nothing about a bench: single ones, and all of these structs.
const OF_SERVERS: [&str; 8] = [
    "servers",
    "bin",
    "OwnServer",
    "RequestOptions",
    "OwnLoad",
    "GeneratorOptions",
    "open_loop",
    "metric",
];
const BASELINE: &str = "baseline";
const CANDIDATE: &str = "candidate";

/// The most load on a machine that is not this one. It keeps a typo from becoming an attack.
const REMOTE_USERS: usize = 8;
const REMOTE_REQUESTS_PER_S: u64 = 100;

/// The milliseconds that each user has to pause after a visit of `requests`, so that a closed loop
/// never exceeds the limit for remote hosts, however fast they answer.
fn remote_pause_ms(users: usize, requests: usize) -> u64 {
    (1000 * users as u64 * requests as u64).div_ceil(REMOTE_REQUESTS_PER_S)
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What to compare")]
pub struct SideOptions {
    /// Two servers or more, the baseline first: commands, or URLs of servers that run
    ///
    /// `NAME=` in front of one names its row, and `GET /path` behind it is a request of its own, which has to get the
    /// same answer as that of the others.
    #[arg(value_name = "SERVER", conflicts_with = "rev")]
    pub servers: Vec<String>,
    /// Instead of servers: git revisions, the baseline first
    ///
    /// Each is built and runs in a worktree.
    #[arg(long, value_name = "REV", num_args = 1)]
    pub rev: Vec<String>,
    /// With --rev: the binary to build and run
    ///
    /// Arguments for cargo may follow the name, as in 'api --features tls --package web'.
    #[arg(long, value_name = "NAME", requires = "rev")]
    pub bin: Option<String>,
    /// With --rev: a Criterion bench instead of a server
    ///
    /// Each benchmark in it, or each that FILTER allows, gets a verdict. Arguments for cargo may follow the name, as in
    /// 'parse --features internals'.
    #[arg(long, value_names = ["NAME", "FILTER"], num_args = 1..=2, requires = "rev", conflicts_with_all = OF_SERVERS)]
    pub bench: Vec<String>,
    /// Instead of servers: commands that run benches, the baseline first
    ///
    /// Each leaves Criterion's files, or prints a line `NAME NANOSECONDS` for each benchmark.
    #[arg(long, value_name = "CMD", num_args = 1, hide_short_help = true, conflicts_with_all = OF_SERVERS, conflicts_with = "rev")]
    pub bench_command: Vec<String>,
    /// With --rev: put the functions of each binary in N random orders
    ///
    /// They take turns in its runs, so that the place of a function in memory is no difference.
    #[arg(long, value_name = "N", requires = "rev", value_parser = clap::value_parser!(u16).range(2..=100))]
    pub layouts: Option<u16>,
    /// With --rev: arguments for the binary
    #[arg(last = true, value_name = "ARGS", requires = "rev")]
    pub args: Vec<String>,
    /// Permit load on a URL of another machine: at most 8 users and 100 requests a second
    #[arg(long, hide_short_help = true)]
    pub allow_remote: bool,
}

pub struct Sides {
    pub subjects: Vec<Subject>,
    /// How many milliseconds a user has to pause, for a side on another machine.
    pub pause_ms: u64,
    _revisions: Option<Revisions>,
}

impl SideOptions {
    /// Builds, looks up and checks all sides. `dir` is for the bodies of requests.
    pub async fn open(
        &self,
        places: &Places,
        server: &OwnServer,
        users: usize,
        dir: &Path,
    ) -> anyhow::Result<Sides> {
        let sides = self.typed();
        let names = names(&sides)?;
        // Builds come first, because a build that fails makes everything else useless.
        let revisions = match &self.bin {
            _ if self.rev.is_empty() => None,
            Some(bin) => Some(self.revisions(places, &Artifact::bin(bin)?).await?),
            None => bail!("--rev needs --bin NAME, the server to build, or --bench NAME"),
        };
        let (mut subjects, mut targets, mut pause_ms) = (Vec::new(), Vec::new(), 0);
        for (at, (name, side)) in names.iter().zip(&sides).enumerate() {
            if side.is_running() {
                let url = side.url()?;
                let requests = requests_below(&url, &server.requests, &side.gets, dir)?;
                let target = lab_load::resolve(&url).await?;
                pause_ms = pause_ms.max(self.pause_ms(&url, &target, users, requests.len())?);
                targets.push((target.address, requests.clone()));
                let patience = Some(server.patience());
                let launch = Launch { patience, ..Launch::running(name, url, target) };
                let given = without_secrets(&side.given);
                subjects.push(Subject::new(name, launch, requests).given(given));
            } else {
                let built = revisions.as_ref().map(|(_, built)| &built[at]);
                subjects.push(self.started(name, side, server, built, dir)?);
            }
        }
        ensure_same_count(&subjects)?;
        ensure_distinct(&targets)?;
        Ok(Sides { subjects, pause_ms, _revisions: revisions.map(|(revisions, _)| revisions) })
    }

    /// A side that `lab` starts: a command, or what was built from a revision.
    fn started(
        &self,
        name: &str,
        side: &Side,
        server: &OwnServer,
        built: Option<&Built>,
        dir: &Path,
    ) -> anyhow::Result<Subject> {
        let requests = server.requests.all(&side.gets, dir)?;
        let builds = match built {
            Some(built) => launches_of(name, built, &self.args, server)?,
            None => vec![server.launch(name, &side.given, None)?],
        };
        let first = builds.first().context("a side has a command")?.clone();
        let layouts = if self.layouts.is_some() { builds } else { Vec::new() };
        let mut given = without_secrets(&side.given);
        for path in &side.gets {
            given += &format!(" GET {}", without_secrets(path));
        }
        let besides = built.map(|built| built.besides.clone());
        Ok(Subject { layouts, besides, ..Subject::new(name, first, requests).given(given) })
    }

    /// Whether benchmarks are compared, and not servers.
    pub fn is_of_benches(&self) -> bool {
        !self.bench.is_empty() || !self.bench_command.is_empty()
    }

    pub fn typed(&self) -> Vec<Side> {
        let is_unique =
            |revision: &String| self.rev.iter().filter(|other| *other == revision).count() == 1;
        let revision = |revision: &String| {
            let name = (self.rev.len() > 2 && is_unique(revision)).then(|| revision.clone());
            Side { name, given: revision.clone(), gets: Vec::new() }
        };
        let commands = self.servers.iter().chain(&self.bench_command).map(|text| Side::typed(text));
        commands.chain(self.rev.iter().map(revision)).collect()
    }

    /// How many servers there are besides the baseline.
    pub fn candidates(&self) -> usize {
        self.typed().len().saturating_sub(1)
    }

    pub fn is_running(&self) -> bool {
        self.typed().iter().any(Side::is_running)
    }

    /// How many milliseconds each user has to pause to go easy on a server that runs already, if it is on another
    /// machine.
    fn pause_ms(
        &self,
        url: &Uri,
        target: &Target,
        users: usize,
        requests: usize,
    ) -> anyhow::Result<u64> {
        let shown = without_secrets(&url.to_string());
        let is_remote = !target.address.ip().is_loopback();
        ensure!(
            !is_remote || self.allow_remote && users <= REMOTE_USERS,
            "{shown} is not on loopback: --allow-remote permits {REMOTE_USERS} --users and \
             {REMOTE_REQUESTS_PER_S} requests a second; ask its owner first"
        );
        if is_remote {
            err!(
                "note: {shown} is on another machine: the limit of {REMOTE_REQUESTS_PER_S} \
                 requests a second also limits throughput; let --metric latency-p50 decide"
            );
        }
        err!(
            "note: `lab` does not restart {shown}, so its caches and heap carry over from run to run"
        );
        Ok(if is_remote { remote_pause_ms(users, requests) } else { 0 })
    }

    /// Builds all revisions, the baseline first.
    pub async fn revisions(
        &self,
        places: &Places,
        what: &Artifact,
    ) -> anyhow::Result<(Revisions, Vec<Built>)> {
        let revisions = Revisions::open(&places.results()?).await?;
        // A typing error in the last one is an error before the first one is built.
        let mut commits = Vec::new();
        for revision in &self.rev {
            commits.push(revisions.commit(revision).await?);
        }
        revisions.note_uncommitted(&commits).await?;
        let mut built = Vec::new();
        for revision in &self.rev {
            built.push(revisions.build(revision, what, self.layouts).await?);
        }
        revisions.compare_builds(&mut built).await?;
        Ok((revisions, built))
    }
}

/// How to start a server that was built with these arguments, once for each layout.
pub fn launches_of(
    name: &str,
    built: &Built,
    args: &[String],
    server: &OwnServer,
) -> anyhow::Result<Vec<Launch>> {
    let Built { programs, dir, env, unset, .. } = built;
    let mut launches = Vec::new();
    for program in programs {
        let words = [program.display().to_string()];
        let command = shell_words::join(words.iter().chain(args));
        let launch = server.launch(name, &command, Some(dir))?;
        // The launch's own variables come last, because they include the port.
        let env = env.clone().into_iter().chain(launch.env).collect();
        launches.push(Launch { env, unset: unset.clone(), ..launch });
    }
    Ok(launches)
}

/// A name for each row: its own, or `baseline` and `candidate`. Of several candidates, revisions have their own names,
/// and the others a number.
pub fn names(sides: &[Side]) -> anyhow::Result<Vec<String>> {
    ensure!(
        sides.len() > 1,
        "give two servers or more, the baseline first: commands such as ./old and ./new, or URLs; or --rev twice"
    );
    let name = |(at, side): (usize, &Side)| match &side.name {
        Some(name) => name.clone(),
        None if at == 0 => BASELINE.to_owned(),
        None if sides.len() == 2 => CANDIDATE.to_owned(),
        None => format!("{CANDIDATE}-{at}"),
    };
    let names: Vec<_> = sides.iter().enumerate().map(name).collect();
    for (at, name) in names.iter().enumerate() {
        ensure!(!names[..at].contains(name), "two servers have the name `{name}`");
    }
    Ok(names)
}

/// Fails unless every candidate gets as many requests as the baseline: the nth answers are compared.
fn ensure_same_count(subjects: &[Subject]) -> anyhow::Result<()> {
    let [baseline, candidates @ ..] = subjects else { bail!("there is no baseline") };
    for candidate in candidates {
        ensure!(
            candidate.requests.len() == baseline.requests.len(),
            "{} is asked {} and the baseline {}: write as many `GET /path` behind each server",
            candidate.name,
            plural(candidate.requests.len(), "request"),
            baseline.requests.len()
        );
    }
    Ok(())
}

/// Fails if two URLs lead to one server and the same paths, which would compare the server with itself.
fn ensure_distinct(targets: &[(SocketAddr, Vec<Request>)]) -> anyhow::Result<()> {
    let paths = |requests: &[Request]| {
        requests.iter().map(|request| request.path.clone()).collect::<Vec<_>>()
    };
    for (at, (address, requests)) in targets.iter().enumerate() {
        let is_same = |(other, its): &(SocketAddr, Vec<Request>)| {
            other == address && paths(its) == paths(requests)
        };
        ensure!(
            !targets[..at].iter().any(is_same),
            "two URLs ask one server for the same paths: give two servers, or different paths"
        );
    }
    Ok(())
}

/// The requests to a server that runs already: paths go below that of its URL. Without any, it is the URL
/// itself.
pub fn requests_below(
    url: &Uri,
    requests: &RequestOptions,
    own: &[String],
    dir: &Path,
) -> anyhow::Result<Vec<Request>> {
    if requests.is_empty() && own.is_empty() {
        let whole = url.path_and_query().map_or("/", |path| path.as_str());
        return requests.all(&[whole.to_owned()], dir);
    }
    ensure!(
        url.query().is_none(),
        "`{}` has a query: give it with --get",
        without_secrets(&url.to_string())
    );
    let mut requests = requests.all(own, dir)?;
    for request in &mut requests {
        request.path.insert_str(0, url.path().trim_end_matches('/'));
    }
    Ok(requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_has_a_name_and_paths_of_its_own() {
        let of = |text: &str| {
            let Side { name, given, gets } = Side::typed(text);
            (name.unwrap_or_default(), given, gets.join(" "))
        };
        let expected = |name: &str, given: &str, gets: &str| {
            (name.to_owned(), given.to_owned(), gets.to_owned())
        };
        assert_eq!(of("./old --port 8"), expected("", "./old --port 8", ""));
        assert_eq!(of("mi-2=./s -a b"), expected("mi-2", "./s -a b", ""));
        assert_eq!(of("LD_PRELOAD=./x.so ./s"), expected("", "LD_PRELOAD=./x.so ./s", ""));
        assert_eq!(of("new=PORT=1 ./s"), expected("new", "PORT=1 ./s", ""));
        assert_eq!(of("./s GET /a GET /b?c=d "), expected("", "./s", "/a /b?c=d"));
        assert_eq!(of("http://h/?a=b"), expected("", "http://h/?a=b", ""));
        let sides = ["./a", "x=./b", "./c"].map(Side::typed);
        assert_eq!(names(&sides).unwrap(), ["baseline", "x", "candidate-2"]);
        assert!(names(&["./a", "x=./b", "x=./c"].map(Side::typed)).is_err());
    }

    #[test]
    fn the_pause_keeps_a_closed_loop_below_the_limit() {
        for (users, requests) in [(1, 1), (8, 1), (3, 7)] {
            let seconds = remote_pause_ms(users, requests) as f64 / 1e3;
            let rate = (users * requests) as f64 / seconds;
            assert!(rate <= REMOTE_REQUESTS_PER_S as f64 && rate > 99.0, "{rate}");
        }
    }
}
