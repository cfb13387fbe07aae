//! A side of a comparison of revisions: cargo builds it, and says how it would run it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;
use lab_system::err;
use tempfile::NamedTempFile;

use super::{
    Artifact, Built, Scratch,
    artifact::FoundArtifact,
    as_cargo_runs,
    cargo::{self, CompiledTarget, as_from_a_shell_elsewhere},
    ingredients::CompiledCrates,
    kept::Kept,
    with_bar,
};

pub struct RevisionBuild<'a> {
    /// `api at main (0123456789)`
    pub title: String,
    pub what: &'a Artifact,
    pub found: FoundArtifact,
    pub dir: &'a Path,
    pub kept: &'a Kept,
    pub host: &'a str,
}

/// A program that cargo built, as cargo describes it.
struct Executable {
    path: PathBuf,
    /// Whether it was there already.
    is_fresh: bool,
    /// All crates of the build.
    compiled: CompiledCrates,
}

/// A copy of a program whose functions are in another order.
fn layout_of(program: &Path, seed: u16) -> anyhow::Result<PathBuf> {
    let name = program.file_name().context("a program has a name")?.to_string_lossy();
    Ok(program.with_file_name(format!("{name}-layout-{seed}")))
}

impl RevisionBuild<'_> {
    /// Builds it, once for each layout. Returns also the crates that cargo compiled.
    pub async fn build(&self, layouts: Option<u16>) -> anyhow::Result<(Built, CompiledCrates)> {
        if !self.kept.is_complete {
            err!("building {}", self.title);
        }
        let plain = self.plain().await?;
        if !plain.is_fresh {
            // Also if nobody asks for layouts now: those of another program must not be there the next time.
            for seed in 1..=u16::MAX {
                if fs::remove_file(layout_of(&plain.path, seed)?).is_err() {
                    break;
                }
            }
        }
        let run = if self.what.is_bench() { "bench" } else { "run" };
        let run = self.cargo(run, &self.what.option());
        // The environment may have secrets.
        let files = Scratch::new()?;
        let triples = self.triples(&plain);
        let ran = as_cargo_runs::ask(run, &triples, files.path()).await?;
        let unused_runner = as_cargo_runs::unused_runner(&triples, self.dir);
        let programs = match layouts {
            None => vec![ran.program],
            Some(layouts) => self.layouts(layouts, &plain.path).await?,
        };
        let as_cargo_runs::Ran { dir, env, unset, .. } = ran;
        let built = Built { programs, dir, env, unset, unused_runner, ..Built::default() };
        Ok((built, plain.compiled))
    }

    /// Builds the side as cargo does. A server gets all programs of its package, because it may start one of them.
    async fn plain(&self) -> anyhow::Result<Executable> {
        let command = if self.what.is_bench() {
            let [option, name] = self.what.option();
            self.cargo("bench", &["--no-run".to_owned(), option, name])
        } else {
            self.cargo("build", &["--bins".to_owned()])
        };
        match (self.run(command, &[]).await, self.what.hint(&self.found)) {
            (Err(error), Some(hint)) => Err(error.context(hint)),
            (built, _) => built,
        }
    }

    /// Copies of the program with its functions in random orders. They are next to it, because it may look for files
    /// there.
    async fn layouts(&self, layouts: u16, program: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let all: Vec<_> =
            (1..=layouts).map(|seed| layout_of(program, seed)).collect::<Result<_, _>>()?;
        let missing: Vec<_> = (1..).zip(&all).filter(|(_, path)| !path.is_file()).collect();
        for &(seed, path) in &missing {
            err!("building {}, layout {seed} of {layouts}", self.title);
            // An option of lld, which is Rust's linker on x86-64 Linux. It is for this binary alone: with RUSTFLAGS,
            // each layout would build all dependencies again.
            let link = format!("link-arg=-Wl,--shuffle-sections=*={seed}");
            let rustc = self.cargo("rustc", &self.what.option());
            let built = self.run(rustc, &["--", "-C", &link]).await;
            let built = built.context("--layouts needs the linker lld")?;
            copy_whole(&built.path, path)?;
        }
        if !missing.is_empty() {
            // Cargo has put the last layout in the place of its own.
            self.plain().await?;
        }
        Ok(all)
    }

    fn cargo(&self, verb: &str, args: &[String]) -> Command {
        let target = self.kept.target();
        let mut command = as_from_a_shell_elsewhere("cargo", self.dir);
        command.arg(verb).args(args).args(self.what.arguments(&self.found));
        command.arg("--target-dir").arg(&target);
        // A user's setting may name another directory for cargo's intermediate files.
        command.env("CARGO_BUILD_BUILD_DIR", &target).env("PWD", self.dir);
        command
    }

    /// Runs a cargo that builds; returns what it says about the program.
    async fn run(&self, mut command: Command, rest: &[&str]) -> anyhow::Result<Executable> {
        command.args(cargo::MESSAGES).args(rest);
        let messages = with_bar::run_cargo(command, cargo::PATIENCE).await?;
        // Another package may have one of the same name.
        let [option, name] = self.what.option();
        let is_it = |message: &CompiledTarget| {
            message.target.src_path == self.found.target.src_path
                && message.target.name == name
                && message.is_of_kind(option.trim_start_matches('-'))
        };
        let compiled = CompiledCrates::of(&messages);
        let its = messages.into_iter().filter(is_it);
        let mut its = its.filter_map(|message| Some((message.executable?, message.fresh)));
        let (path, is_fresh) = its.next_back().context("cargo does not say where it is")?;
        Ok(Executable { path, is_fresh, compiled })
    }

    /// The platforms whose programs cargo may have built: its own, and the one that the path names.
    fn triples(&self, plain: &Executable) -> Vec<String> {
        let below = plain.path.strip_prefix(self.kept.target()).unwrap_or(&plain.path);
        let first = below.iter().next().unwrap_or_default().to_string_lossy().into_owned();
        vec![self.host.to_owned(), first]
    }
}

/// Copies a binary in one step: nobody sees or runs a part of it.
fn copy_whole(from: &Path, to: &Path) -> anyhow::Result<()> {
    let dir = to.parent().context("a binary has a directory")?;
    let copied = NamedTempFile::new_in(dir).and_then(|file| {
        let part = file.into_temp_path();
        fs::copy(from, &part)?;
        Ok(part.persist(to)?)
    });
    copied.with_context(|| format!("cannot copy {}", from.display()))
}
