//! The two sides of `lab compare`: commands, revisions, or servers that run already.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use http::Uri;
use lab_model::{Ask, Target};
use lab_servers::{Launch, Requests, Revisions, Subject};
use lab_system::{err, without_secrets};

use super::{Places, own_server::OwnServer};

pub const BASELINE: &str = "baseline";
pub const CANDIDATE: &str = "candidate";

/// The most load on a machine that is not this one. It keeps a typo from becoming an attack.
const REMOTE_USERS: usize = 8;
const REMOTE_REQUESTS_PER_S: u64 = 100;

/// The milliseconds that each user has to pause after a visit of `requests`, so that a closed loop
/// never exceeds the limit for remote hosts, however fast they answer.
fn remote_pause_ms(users: usize, requests: usize) -> u64 {
    (1000 * users as u64 * requests as u64).div_ceil(REMOTE_REQUESTS_PER_S)
}

#[derive(Debug, clap::Args)]
pub struct SideOptions {
    /// The command that starts the baseline
    #[arg(long, value_name = "CMD")]
    pub baseline: Option<String>,
    /// The command that starts the candidate
    #[arg(long, value_name = "CMD")]
    pub candidate: Option<String>,
    /// Instead of a command: the URL of a baseline that runs already; a path in it goes before --get
    #[arg(long, value_name = "URL", conflicts_with = "baseline")]
    pub baseline_url: Option<Uri>,
    /// Instead of a command: the URL of a candidate that runs already
    #[arg(long, value_name = "URL", conflicts_with = "candidate")]
    pub candidate_url: Option<Uri>,
    /// Permit load on a URL of another machine: at most 8 users and 100 requests a second
    #[arg(long)]
    pub allow_remote: bool,
    /// GET this path of the baseline only; needs a --candidate-get with the same answer
    #[arg(long, value_name = "PATH")]
    pub baseline_get: Vec<String>,
    /// GET this path of the candidate only
    #[arg(long, value_name = "PATH")]
    pub candidate_get: Vec<String>,
    /// Instead of commands: two git revisions, the baseline first; each is built and runs in a worktree
    #[arg(long, value_name = "REV", num_args = 1, requires = "bin",
        conflicts_with_all = ["baseline", "candidate", "baseline_url", "candidate_url"])]
    pub rev: Vec<String>,
    /// With --rev: the binary to build and run
    #[arg(long, value_name = "NAME", requires = "rev")]
    pub bin: Option<String>,
    /// With --rev: put the functions of each binary in N random orders, one after the other in its runs
    #[arg(long, value_name = "N", requires = "rev", value_parser = clap::value_parser!(u16).range(2..=100))]
    pub layouts: Option<u16>,
    /// With --rev: arguments for the binary
    #[arg(last = true, value_name = "ARGS", requires = "rev")]
    pub args: Vec<String>,
}

pub struct Sides {
    pub subjects: Vec<Subject>,
    /// How many milliseconds a user has to pause, for a side on another machine.
    pub pause_ms: u64,
    _revisions: Option<Revisions>,
}

enum Side {
    /// A command, once for each layout, and its working directory if it is not the caller's.
    Started {
        commands: Vec<String>,
        dir: Option<PathBuf>,
    },
    Running(Uri),
}

impl SideOptions {
    /// Builds, looks up and checks both sides. `dir` is for the bodies of requests.
    pub async fn open(
        &self,
        places: &Places,
        server: &OwnServer,
        users: usize,
        dir: &Path,
    ) -> anyhow::Result<Sides> {
        let (sides, revisions) = self.sides(places).await?;
        let (mut subjects, mut targets, mut pause_ms) = (Vec::new(), Vec::new(), 0);
        let own = [(BASELINE, &self.baseline_get), (CANDIDATE, &self.candidate_get)];
        for ((name, gets), side) in own.into_iter().zip(&sides) {
            let asks = side.asks(&server.requests, gets, dir)?;
            subjects.push(match side {
                Side::Started { commands, dir } => {
                    let launch = |command: &String| server.launch(name, command, dir.as_deref());
                    let builds: Vec<_> = commands.iter().map(launch).collect::<Result<_, _>>()?;
                    let first = builds.first().context("a side has a command")?.clone();
                    let layouts = if self.layouts.is_some() { builds } else { Vec::new() };
                    Subject { layouts, ..Subject::new(name, first, asks) }
                }
                Side::Running(url) => {
                    let target = lab_load::resolve(url).await?;
                    pause_ms = pause_ms.max(self.pause_ms(url, &target, users, asks.len())?);
                    targets.push(target.clone());
                    Subject::new(name, Launch::running(name, url.clone(), target), asks)
                }
            });
        }
        let [baseline, candidate] = [0, 1].map(|side: usize| &subjects[side].asks);
        ensure!(
            baseline.len() == candidate.len(),
            "each --baseline-get needs a --candidate-get in its place"
        );
        let is_same = matches!(&targets[..], [one, other] if one.address == other.address);
        let paths = |asks: &[Ask]| asks.iter().map(|it| it.path.clone()).collect::<Vec<_>>();
        ensure!(
            !is_same || paths(baseline) != paths(candidate),
            "--baseline-url and --candidate-url ask one server for the same paths: give two servers, \
             or different paths"
        );
        Ok(Sides { subjects, pause_ms, _revisions: revisions })
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

    pub fn title(&self) -> String {
        match (&self.baseline_get[..], &self.candidate_get[..]) {
            ([], []) if self.is_running() => "two servers".to_owned(),
            ([], []) => "two builds of one server".to_owned(),
            (baseline, candidate) => {
                let paths = [baseline, candidate].map(|paths| without_secrets(&paths.join(" ")));
                let [baseline, candidate] = paths;
                format!("baseline GET {baseline}, candidate GET {candidate}")
            }
        }
    }

    pub fn is_running(&self) -> bool {
        self.baseline_url.is_some() || self.candidate_url.is_some()
    }

    /// The baseline and the candidate; builds them first if they are revisions.
    async fn sides(&self, places: &Places) -> anyhow::Result<([Side; 2], Option<Revisions>)> {
        let [baseline, candidate] = match &self.rev[..] {
            [] => {
                let started = |it: String| Side::Started { commands: vec![it], dir: None };
                let side = |command: &Option<String>, url: &Option<Uri>| {
                    command.clone().map(started).or_else(|| url.clone().map(Side::Running))
                };
                let baseline = side(&self.baseline, &self.baseline_url);
                let candidate = side(&self.candidate, &self.candidate_url);
                let both = baseline.zip(candidate).context(
                    "give each side: --baseline CMD or --baseline-url URL, and --candidate CMD or \
                     --candidate-url URL; or --rev twice",
                )?;
                return Ok((both.into(), None));
            }
            [baseline, candidate] => [baseline, candidate],
            _ => bail!("--rev needs two revisions: give it twice, the baseline first"),
        };
        let bin = self.bin.as_deref().context("--rev needs --bin")?;
        let revisions = Revisions::open(&places.results()?).await?;
        // A typing error in the second one is an error before the first one is built.
        for revision in [baseline, candidate] {
            revisions.commit(revision).await?;
        }
        let build = async |revision: &String| {
            let built = revisions.build(revision, bin, self.layouts).await?;
            let command = |program: &PathBuf| {
                let words = [program.display().to_string()];
                shell_words::join(words.iter().chain(&self.args))
            };
            let commands = built.programs.iter().map(command).collect();
            anyhow::Ok(Side::Started { commands, dir: Some(built.dir) })
        };
        let sides = [build(baseline).await?, build(candidate).await?];
        Ok((sides, Some(revisions)))
    }
}

impl Side {
    /// The requests of this side: those of both, and a GET of each of its own paths.
    fn asks(&self, requests: &Requests, own: &[String], dir: &Path) -> anyhow::Result<Vec<Ask>> {
        match self {
            Self::Started { .. } => requests.asks_and(own, dir),
            Self::Running(url) => asks_below(url, requests, own, dir),
        }
    }
}

/// The requests to a server that runs already: paths go below that of its URL. Without any, it is the URL
/// itself.
pub fn asks_below(
    url: &Uri,
    requests: &Requests,
    own: &[String],
    dir: &Path,
) -> anyhow::Result<Vec<Ask>> {
    if requests.is_empty() && own.is_empty() {
        let whole = url.path_and_query().map_or("/", |path| path.as_str());
        return requests.asks_and(&[whole.to_owned()], dir);
    }
    ensure!(
        url.query().is_none(),
        "`{}` has a query: give it with --get",
        without_secrets(&url.to_string())
    );
    let mut asks = requests.asks_and(own, dir)?;
    for ask in &mut asks {
        ask.path.insert_str(0, url.path().trim_end_matches('/'));
    }
    Ok(asks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_keeps_a_closed_loop_below_the_limit() {
        for (users, requests) in [(1, 1), (8, 1), (3, 7)] {
            let seconds = remote_pause_ms(users, requests) as f64 / 1e3;
            let rate = (users * requests) as f64 / seconds;
            assert!(rate <= REMOTE_REQUESTS_PER_S as f64 && rate > 99.0, "{rate}");
        }
    }
}
