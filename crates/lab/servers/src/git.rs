//! Every git that `lab` starts for revisions: it reads your repository, runs none of your hooks, and leaves no daemon.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use lab_system::{Program, ProgramError};

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(120);

pub fn program(dir: &Path, args: &[&str]) -> Program {
    let mut git = Command::new("git");
    git.args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]);
    // Where git keeps a submodule, it names a worktree, and fails if that isn't there now.
    if dir.join("HEAD").is_file() && dir.join("objects").is_dir() {
        git.args(["--git-dir=.", "--work-tree=."]);
    }
    git.args(args).current_dir(dir);
    let what = args.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    Program::new(git, PATIENCE).named(&format!("`git {what}`"))
}

/// Runs git in `dir`, and returns its standard output.
pub async fn bytes(dir: &Path, args: &[&str]) -> Result<Vec<u8>, ProgramError> {
    program(dir, args).output().await
}

/// The line that it prints.
pub async fn line(dir: &Path, args: &[&str]) -> Result<String, ProgramError> {
    Ok(String::from_utf8_lossy(&bytes(dir, args).await?).trim().to_owned())
}

/// The path that it prints, relative ones below `dir`.
pub async fn path(dir: &Path, args: &[&str]) -> Result<PathBuf, ProgramError> {
    let mut printed = bytes(dir, args).await?;
    if printed.ends_with(b"\n") {
        printed.pop();
    }
    Ok(dir.join(OsString::from_vec(printed)))
}

/// The fields of an output whose fields end with a NUL. Names of files that aren't UTF-8 lose those bytes.
pub fn fields(printed: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(printed);
    text.split('\0').filter(|field| !field.is_empty()).map(str::to_owned).collect()
}
