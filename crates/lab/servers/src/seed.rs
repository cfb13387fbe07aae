//! Copies the parts of another commit's target directory that a new build can use: packages that cargo compiled from
//! registries. Programs and the output of build scripts are left out: the server could find them at run time, and cargo
//! compares only their ages.

use std::{fs, io, path::Path};

/// The files of a target directory that depend on no commit.
const OF_NO_COMMIT: [&str; 2] = [".rustc_info.json", "CACHEDIR.TAG"];
/// Where cargo notes what it compiled.
const NOTES: &str = ".fingerprint";

/// Leaves the compiled dependencies in a target directory: nothing of the packages `own`, and no program. Nothing is
/// left where a cargo keeps its files in another way.
///
/// Links are removed, and never followed: what they lead to isn't part of this directory.
pub fn leave_dependencies(target: &Path, own: &[String]) -> io::Result<()> {
    if target.is_symlink() {
        return Err(io::Error::other("it is a link"));
    }
    for entry in target.read_dir()?.flatten() {
        let path = entry.path();
        if path.is_symlink() {
            remove(&path)?;
        } else if path.join(NOTES).is_dir() {
            clean(&path, own)?;
        } else if has_notes_below(&path) {
            // The directory of a platform, if one was named.
            leave_dependencies(&path, own)?;
        } else if !OF_NO_COMMIT.iter().any(|name| entry.file_name() == *name) {
            remove(&path)?;
        }
    }
    Ok(())
}

fn has_notes_below(dir: &Path) -> bool {
    dir.read_dir().into_iter().flatten().flatten().any(|entry| entry.path().join(NOTES).is_dir())
}

/// Cleans the directory of a profile.
fn clean(profile: &Path, own: &[String]) -> io::Result<()> {
    for entry in profile.read_dir()?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        match name.to_str() {
            _ if path.is_symlink() => remove(&path)?,
            Some(NOTES | "build") => {
                for entry in path.read_dir()?.flatten() {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    // `NAME-HASH`
                    if name
                        .rsplit_once('-')
                        .is_some_and(|(name, _)| own.iter().any(|package| package == name))
                    {
                        remove(&entry.path())?;
                    }
                }
            }
            Some("deps") => {
                for entry in path.read_dir()?.flatten() {
                    if is_program(&entry.path()) {
                        remove(&entry.path())?;
                    }
                }
            }
            _ => remove(&path)?,
        }
    }
    Ok(())
}

/// Whether the file is a program, or a library that a program finds by its name alone.
fn is_program(path: &Path) -> bool {
    let Some(extension) = path.extension() else { return true };
    let is_library = extension == "so" || extension == "dylib";
    is_library && !path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains('-'))
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_compiled_dependencies_are_left() {
        let dir = tempfile::tempdir().unwrap();
        let left = ["CACHEDIR.TAG", "tmp/cached", "doc/index.html"];
        let in_profile = [
            ".fingerprint/serde-1a/lib",
            ".fingerprint/my-api-1a/lib",
            "build/ring-1a/out/a.o",
            "build/my-api-1a/out/n.txt",
            "deps/libserde-1a.rlib",
            "deps/libserde_derive-1a.so",
            "deps/libengine.so",
            "deps/speed-1a",
            "deps/speed-1a-layout-1",
            "api",
            "examples/x",
            "incremental/x",
        ];
        let profiles = ["release", "riscv64gc-unknown-linux-gnu/release"];
        let all = profiles.iter().flat_map(|dir| in_profile.map(|path| format!("{dir}/{path}")));
        for path in all.chain(left.map(str::to_owned)) {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir_all(elsewhere.path().join("release/.fingerprint")).unwrap();
        let kept = elsewhere.path().join("release/tool");
        fs::write(&kept, "").unwrap();
        for link in ["elsewhere", "release/elsewhere", "linked"] {
            let to = elsewhere.path().join(if link == "linked" { "release" } else { "" });
            std::os::unix::fs::symlink(to, dir.path().join(link)).unwrap();
        }
        leave_dependencies(dir.path(), &["my-api".to_owned()]).unwrap();
        assert!(kept.is_file() && !dir.path().join("linked").is_symlink());
        for profile in profiles {
            let is_left = |path: &&str| dir.path().join(profile).join(path).exists();
            let left: Vec<_> = in_profile.iter().copied().filter(is_left).collect();
            let expected = [in_profile[0], in_profile[2], in_profile[4], in_profile[5]];
            assert_eq!(left, expected, "{profile}");
        }
        let is_left = |path: &&str| dir.path().join(path).exists();
        assert_eq!(left.iter().filter(|name| is_left(name)).count(), 1);
    }
}
