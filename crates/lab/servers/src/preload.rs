//! Whether a server has the libraries that its command preloads. The loader goes on without one that it does not
//! find, so the server would run, and not be what was asked for.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::Launch;

pub const VARIABLE: &str = "LD_PRELOAD";
/// Where the loader looks for a library without a path, besides its cache.
const DIRECTORIES: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"];

/// The first library that a command preloads, and that none of these processes has mapped. What `lab` itself
/// preloads is nobody's wish for a server.
pub fn missing(launch: &Launch, pids: &[u32]) -> Option<String> {
    let maps = pids.iter().filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).ok());
    let maps: Vec<_> = maps.collect();
    let mapped: BTreeSet<_> = maps.iter().flat_map(|maps| mapped(maps)).collect();
    if mapped.is_empty() {
        // Where no process can be seen, nothing is known.
        return None;
    }
    let set = pids.iter().filter_map(|pid| fs::read(format!("/proc/{pid}/environ")).ok());
    let set = set.filter_map(|variables| value(&variables));
    let own = std::env::var(VARIABLE).unwrap_or_default();
    let own: Vec<_> = libraries(&own).collect();
    let wanted = set.chain(launch.env.get(VARIABLE).cloned());
    let wanted = wanted.flat_map(|value| libraries(&value).map(str::to_owned).collect::<Vec<_>>());
    let dir = pids.first().and_then(|pid| fs::read_link(format!("/proc/{pid}/cwd")).ok());
    let dir = launch.dir.clone().or(dir).unwrap_or_default();
    let is_missing =
        |library: &String| !own.contains(&library.as_str()) && !is_mapped(library, &dir, &mapped);
    wanted.into_iter().find(is_missing)
}

/// The items of the variable.
fn libraries(value: &str) -> impl Iterator<Item = &str> {
    value.split([' ', ':']).filter(|library| !library.is_empty())
}

/// The variable in the environment of a process.
fn value(variables: &[u8]) -> Option<String> {
    let mut variables = variables.split(|byte| *byte == 0);
    let value =
        variables.find_map(|variable| variable.strip_prefix(format!("{VARIABLE}=").as_bytes()))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// The files in a process's memory.
pub fn mapped(maps: &str) -> impl Iterator<Item = PathBuf> {
    maps.lines().filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..])))
}

fn is_mapped(library: &str, dir: &Path, mapped: &BTreeSet<PathBuf>) -> bool {
    // The name without its version: `libx.so.2` may be a link to `libx.so.2.7`.
    let name = library.rsplit('/').next().unwrap_or(library);
    let stem = name.find(".so").map_or(name, |at| &name[..at + 3]);
    let is_it = |file: &PathBuf| {
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(stem))
    };
    if mapped.iter().any(is_it) {
        return true;
    }
    // A link to a file with another name.
    let found = if library.contains('/') {
        vec![dir.join(library)]
    } else {
        let machine = format!("{}-linux-gnu", std::env::consts::ARCH);
        let of =
            |dir: &str| [Path::new(dir).join(library), Path::new(dir).join(&machine).join(library)];
        DIRECTORIES.into_iter().flat_map(of).collect()
    };
    found.iter().filter_map(|file| file.canonicalize().ok()).any(|file| mapped.contains(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_mapped_by_its_name_its_version_or_the_file_behind_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().canonicalize().unwrap().join("real-name.so");
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, dir.path().join("libalias.so.1")).unwrap();
        let maps = format!(
            "7f00-7f01 r-xp 00000000 fe:00 12   /usr/lib/x86_64-linux-gnu/libjemalloc.so.2.3\n\
             7f01-7f02 rw-p 00000000 00:00 0\n7ffc-7ffd rw-p 00000000 00:00 0   [stack]\n\
             7f02-7f03 r--p 00000000 fe:00 13   {}\n",
            file.display()
        );
        let mapped = mapped(&maps).collect();
        let is = |library: &str| is_mapped(library, dir.path(), &mapped);
        assert!(is("libjemalloc.so.2") && is("/opt/libjemalloc.so") && is("./libalias.so.1"));
        assert!(!is("libjemallox.so.2") && !is("./libother.so.1") && !is("libmimalloc.so"));
    }

    #[test]
    fn the_variable_is_a_list() {
        assert_eq!(libraries("a.so b.so:/c.so ").collect::<Vec<_>>(), ["a.so", "b.so", "/c.so"]);
        let found = value(b"A=1\0LD_PRELOAD=libx.so\0B=2\0");
        assert_eq!(found.as_deref(), Some("libx.so"));
        assert_eq!(value(b"OLD_PRELOAD=x\0"), None);
    }
}
