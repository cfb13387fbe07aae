//! Makes a program work in the repository of its directory, even if a hook of another repository started `lab`.

use std::process::Command;

/// Git's variables that choose a repository or a part of one, of all its versions: `git rev-parse --local-env-vars`. A
/// hook gets some of them, and a git that inherits them writes into the commit that is being made. The last one forbids
/// a worktree while a push is received.
const OF_A_REPOSITORY: [&str; 17] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
    "GIT_QUARANTINE_PATH",
];
/// Forbids git to take optional locks: otherwise `git status` updates the index.
const READS_ONLY: (&str, &str) = ("GIT_OPTIONAL_LOCKS", "0");

/// Has a program, and what it starts, find the repository of its own directory and only read its index. What the
/// command sets already stays.
pub(crate) fn find_its_own(command: &mut Command) {
    let is_set =
        |command: &Command, name: &str| command.get_envs().any(|(variable, _)| variable == name);
    for name in OF_A_REPOSITORY {
        if !is_set(command, name) {
            command.env_remove(name);
        }
    }
    if !is_set(command, READS_ONLY.0) {
        command.env(READS_ONLY.0, READS_ONLY.1);
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn each_variable_that_git_calls_local_is_removed_unless_the_command_sets_it() {
        let git = Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap();
        let local = String::from_utf8(git.stdout).unwrap();
        assert!(local.lines().count() > 10, "{local}");
        let mut command = Command::new("git");
        command.env("GIT_DIR", "mine");
        find_its_own(&mut command);
        for name in local.lines() {
            let expected = (name == "GIT_DIR").then_some(OsStr::new("mine"));
            assert!(
                command.get_envs().any(|variable| variable == (OsStr::new(name), expected)),
                "{name}"
            );
        }
    }
}
