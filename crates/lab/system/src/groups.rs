//! The control groups of a process, of version 1 and 2.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use super::System;

/// Where the groups of a process and all above them may be, for one controller, below the root of the system. `process`
/// is an entry of `/proc`, such as `self`. `mounts`: where the groups of version 2 and of this controller are.
pub fn of_process(
    system: &System,
    process: &str,
    controller: &str,
    mounts: &[&str],
) -> Vec<PathBuf> {
    // The name of a group may have any bytes.
    let table = system.bytes(format!("proc/{process}/cgroup")).unwrap_or_default();
    let paths = table.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut parts = line.splitn(3, |byte| *byte == b':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        // Version 2 names no controllers.
        let mut names = controllers.split(|byte| *byte == b',');
        let is_of_it = controllers.is_empty() || names.any(|name| name == controller.as_bytes());
        let path = Path::new(OsStr::from_bytes(path));
        is_of_it.then(|| path.strip_prefix("/").unwrap_or(path).to_owned())
    });
    // In a container, the path may be that of its host, and the group is the root that it sees.
    let paths: Vec<_> = paths.chain([PathBuf::new()]).collect();
    let dirs = |mount: &&str| {
        let mount = PathBuf::from(mount);
        let all = paths.iter().flat_map(|path| path.ancestors());
        all.map(move |dir| mount.join(dir)).collect::<Vec<_>>()
    };
    mounts.iter().flat_map(dirs).collect()
}
