//! Every cargo that `lab` starts.
//!
//! `cargo run` gives `lab` variables of its own, such as `CARGO_MANIFEST_DIR`. The build script of ring
//! asks for another run when they change. So a cargo that inherited them would compile ring and all that
//! uses it again, and so would the next cargo that a shell starts.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use lab_cases::{MINE, Workspace};
use lab_system::Program;
use serde::Deserialize;

use super::{artifact::CargoTarget, with_bar};

/// How long cargo may compile one crate.
pub const PATIENCE: Duration = Duration::from_secs(3600);
/// How long cargo may take where it compiles nothing.
pub const SHORT_PATIENCE: Duration = Duration::from_secs(120);
/// Has cargo print its messages for programs, which [`with_bar::run_cargo`] returns.
pub const MESSAGES: [&str; 2] = ["--message-format", "json-render-diagnostics"];

/// A cargo or rustc in a directory, with the environment that a shell would give it.
pub fn as_from_a_shell(program: impl AsRef<OsStr>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir);
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_set_by_cargo) {
            command.env_remove(name);
        }
    }
    command
}

/// [`as_from_a_shell`] in a repository other than this workspace.
pub fn as_from_a_shell_elsewhere(program: impl AsRef<OsStr>, dir: &Path) -> Command {
    let mut command = as_from_a_shell(program, dir);
    // If cargo started `lab`, rustup chose this toolchain for the workspace of `lab`. The other
    // repository may name its own.
    if env::var_os("CARGO").is_some() {
        command.env_remove("RUSTUP_TOOLCHAIN");
    }
    command
}

/// The manifest of the workspace around a directory.
///
/// # Errors
///
/// If cargo finds none, or doesn't answer.
pub async fn workspace_manifest(dir: &Path) -> anyhow::Result<PathBuf> {
    let mut cargo = as_from_a_shell_elsewhere("cargo", dir);
    cargo.args(["locate-project", "--workspace", "--message-format", "plain"]);
    let mut path = Program::new(cargo, SHORT_PATIENCE).output().await?;
    path.truncate(path.trim_ascii_end().len());
    Ok(PathBuf::from(OsString::from_vec(path)))
}

/// The directory that cargo names after the profile that `lab` itself was built in.
pub const PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };

/// Builds some binaries of the workspace where cargo's settings say, in the profile that `lab` itself was built in, and
/// notes where cargo has put them. No names of crates appear.
///
/// # Errors
///
/// If cargo fails, or builds no binary of one of the names.
pub async fn build_servers(
    workspace: &Workspace,
    binaries: &[String],
    flags: &[&str],
) -> anyhow::Result<()> {
    // The reader's own variants are behind a feature of their packages. They are built apart, so that the
    // feature changes no other binary.
    let (mine, others): (Vec<_>, Vec<_>) =
        binaries.iter().partition(|name| name.ends_with(&format!("-{MINE}")));
    for binaries in [mine, others].into_iter().filter(|names| !names.is_empty()) {
        // The whole workspace is named so that cargo chooses the same features of the dependencies as in
        // an ordinary build, and compiles none of them again.
        let mut command = as_from_a_shell("cargo", workspace.root());
        command.args(["build", "--workspace"]);
        if PROFILE == "release" {
            command.arg("--release");
        }
        for name in binaries {
            command.args(["--bin", name]);
            if let Some(package) = name.strip_suffix(&format!("-{MINE}")) {
                command.args(["--features", &format!("{package}/{MINE}")]);
            }
        }
        command.args(flags).args(MESSAGES);
        for message in with_bar::run_cargo(command, PATIENCE).await? {
            if let Some((name, path)) = message.binary() {
                workspace.is_built(name, path.to_owned());
            }
        }
    }
    for name in binaries {
        workspace.binary(name)?;
    }
    Ok(())
}

/// Cargo's message about something that it has compiled, or found compiled.
#[derive(Debug, Deserialize)]
pub struct CompiledTarget {
    /// The package, as cargo's version writes it.
    #[serde(default)]
    pub package_id: String,
    /// The features that it was compiled with.
    #[serde(default)]
    pub features: Vec<String>,
    pub target: CargoTarget,
    pub executable: Option<PathBuf>,
    /// Whether it was there already.
    pub fresh: bool,
}

impl CompiledTarget {
    pub fn is_of_kind(&self, kind: &str) -> bool {
        self.target.kind.first().is_some_and(|first| first == kind)
    }

    /// The name and the path of a binary.
    fn binary(&self) -> Option<(&str, &Path)> {
        let path = self.executable.as_deref()?;
        self.is_of_kind("bin").then_some((&self.target.name, path))
    }
}

/// Whether cargo sets this variable for the programs that it runs. Others of its variables are settings,
/// such as `CARGO_HOME` and `CARGO_TARGET_DIR`, and belong to the user.
fn is_set_by_cargo(name: &str) -> bool {
    // https://doc.rust-lang.org/cargo/reference/environment-variables.html
    let names = ["CARGO", "CARGO_MAKEFLAGS", "CARGO_CRATE_NAME", "CARGO_BIN_NAME", "OUT_DIR"];
    let more = ["CARGO_PRIMARY_PACKAGE", "CARGO_TARGET_TMPDIR"];
    let prefixes = ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_BIN_EXE_"];
    names.contains(&name)
        || more.contains(&name)
        || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_is_where_cargo_says_and_nothing_else_is_one() {
        let message = |kind: &str, executable: Option<&str>| -> CompiledTarget {
            let target =
                serde_json::json!({ "name": "api", "kind": [kind], "src_path": "/s/main.rs" });
            let message = serde_json::json!({ "reason": "compiler-artifact", "target": target, "executable": executable, "fresh": true });
            serde_json::from_value(message).unwrap()
        };
        let path = "/t/riscv64gc-unknown-linux-gnu/release/api";
        assert_eq!(message("bin", Some(path)).binary(), Some(("api", Path::new(path))));
        assert_eq!(message("test", Some(path)).binary(), None);
        assert_eq!(message("bin", None).binary(), None);
    }

    /// Cargo has set its variables for this test.
    #[test]
    fn cargos_own_variables_are_removed_and_settings_stay() {
        let command = as_from_a_shell_elsewhere("cargo", Path::new("."));
        let removed =
            |name: &str| command.get_envs().any(|variable| variable == (OsStr::new(name), None));
        for name in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_PKG_VERSION"] {
            assert!(env::var_os(name).is_some() && removed(name), "{name}");
        }
        assert!(removed("RUSTUP_TOOLCHAIN"), "another repository may name its own");
        for name in ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS", "CARGO_PROFILE_DEV_LTO"]
        {
            assert!(!is_set_by_cargo(name), "{name}");
        }
    }
}
