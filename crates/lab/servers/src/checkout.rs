//! A revision's files, at a place where they find what your own checkout finds: submodules, and what is next to the
//! repository.

use std::{
    env, fs, io,
    os::unix::fs::symlink,
    path::{Component, Path, PathBuf},
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, ensure};
use lab_system::err;

use super::git;

/// The worktree of a commit: below `place`, at the path of your repository, so that `../shared` leads to a link to the
/// real one. Does nothing if it is there.
pub async fn check_out(top: &Path, place: &Path, commit: &str) -> anyhow::Result<PathBuf> {
    let tree = below(place, top);
    if tree.is_dir() {
        return Ok(tree);
    }
    let linked = link_neighbours(top, place);
    linked.with_context(|| format!("cannot link what is next to {}", top.display()))?;
    let path = tree.to_str().context("the path of the repository isn't UTF-8")?;
    git::bytes(top, &["worktree", "add", "--quiet", "--force", "--detach", path, commit]).await?;
    fill_submodules(top, &tree, commit).await?;
    Ok(tree)
}

/// `/home/me/api` below `/place` is `/place/home/me/api`.
fn below(place: &Path, path: &Path) -> PathBuf {
    let names = path.components().filter(|component| matches!(component, Component::Normal(_)));
    names.fold(place.to_owned(), |place, name| place.join(name))
}

/// In each directory above the worktree, links to what is next to your repository there. Git and cargo find their
/// settings once: those of directories above both are found anyway. A lock file is copied, because cargo writes it.
fn link_neighbours(top: &Path, place: &Path) -> io::Result<()> {
    let home = cargo_home();
    for (child, parent) in top.ancestors().zip(top.ancestors().skip(1)) {
        let here = below(place, parent);
        fs::create_dir_all(&here)?;
        for entry in parent.read_dir().into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_found_anyway =
                name == ".cargo" && (place.starts_with(parent) || Some(&path) == home.as_ref());
            if path == child || name == ".git" || is_found_anyway {
                continue;
            }
            let link = here.join(&name);
            // One that can't be made is missed by what needs it.
            let _ = if name == "Cargo.lock" {
                fs::copy(path, link).map(drop)
            } else {
                symlink(path, link)
            };
        }
    }
    Ok(())
}

/// Where cargo keeps the sources of registries.
pub fn cargo_home() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| Some(env::home_dir()?.join(".cargo")))?.canonicalize().ok()
}

/// Fills the submodules of a worktree, and theirs, with what your own clones of them have: there may be no network. One
/// that you don't have stays empty, as it is in your checkout.
async fn fill_submodules(from: &Path, tree: &Path, commit: &str) -> anyhow::Result<()> {
    let listed = git::bytes(from, &["ls-tree", "-r", "-z", "--full-tree", commit]).await?;
    let submodules = git::fields(&listed).into_iter().filter_map(|line| {
        let (about, path) = line.split_once('\t')?;
        Some((path.to_owned(), about.strip_prefix("160000 commit ")?.to_owned()))
    });
    for (path, commit_of_it) in submodules {
        let Some(clone) = clone_of(from, commit, &path).await? else {
            err!(
                "note: the submodule {path} stays empty, as in your checkout: git submodule update --init"
            );
            continue;
        };
        let object = format!("{commit_of_it}^{{commit}}");
        let has_it = git::bytes(&clone, &["cat-file", "-e", &object]).await.is_ok();
        ensure!(
            has_it,
            "your clone of the submodule {path} lacks the commit {commit_of_it}: `git -C {path} fetch`, then try again"
        );
        let its_tree = tree.join(&path);
        let objects = git::path(&clone, &["rev-parse", "--git-path", "objects"]).await?;
        git::bytes(tree, &["init", "--quiet", &path]).await?;
        let alternates = its_tree.join(".git/objects/info/alternates");
        fs::write(&alternates, format!("{}\n", objects.canonicalize()?.display()))
            .with_context(|| format!("cannot write {}", alternates.display()))?;
        git::bytes(&its_tree, &["checkout", "--quiet", "--detach", &commit_of_it]).await?;
        Box::pin(fill_submodules(&clone, &its_tree, &commit_of_it)).await?;
    }
    Ok(())
}

/// Your clone of a submodule: in your checkout, or where git keeps it for other revisions.
async fn clone_of(from: &Path, commit: &str, path: &str) -> anyhow::Result<Option<PathBuf>> {
    let checked_out = from.join(path);
    if checked_out.join(".git").exists() {
        return Ok(Some(checked_out));
    }
    let names = format!("{commit}:.gitmodules");
    let names = ["config", "-z", "--blob", &names, "--get-regexp", r"^submodule\..*\.path$"];
    // Without this file, it has no name.
    let names = git::bytes(from, &names).await.unwrap_or_default();
    let name = git::fields(&names).into_iter().find_map(|field| {
        let (key, value) = field.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        (value == path).then(|| name.to_owned())
    });
    let Some(name) = name else { return Ok(None) };
    for dir in ["--git-dir", "--git-common-dir"] {
        let kept = git::path(from, &["rev-parse", dir]).await?.join("modules").join(&name);
        if kept.join("objects").is_dir() {
            return Ok(Some(kept));
        }
    }
    Ok(None)
}

/// Says how many files of your checkout are in no commit, because no side has them.
pub async fn note_uncommitted(top: &Path, results: &Path) -> anyhow::Result<()> {
    let status = ["status", "--porcelain", "--no-renames", "--untracked-files=normal", "-z"];
    let printed = git::bytes(top, &status).await?;
    // Where the results are is new where git doesn't ignore it.
    let is_theirs = |path: &str| !results.starts_with(top.join(path.trim_end_matches('/')));
    let fields = git::fields(&printed);
    let changed = fields.iter().filter_map(|field| field.get(3..)).filter(|path| is_theirs(path));
    match changed.count() {
        0 => {}
        1 => err!("note: 1 uncommitted file is in no revision, so it isn't measured: commit it"),
        files => {
            err!(
                "note: {files} uncommitted files are in no revision, so they aren't measured: commit them"
            );
        }
    }
    Ok(())
}

/// Whether a build wrote into the worktree of its sources. Cargo doesn't know of such files, so it would miss it in the
/// next worktree of the commit. `Cargo.lock` is no secret: cargo writes it again.
pub async fn has_new_files(tree: &Path) -> anyhow::Result<bool> {
    let printed = git::bytes(tree, &["status", "--porcelain", "--ignored", "-z"]).await?;
    Ok(git::fields(&printed).iter().any(|file| !file.ends_with("Cargo.lock")))
}

/// Makes all files of a worktree older than any build. Cargo goes by the age of a file, and what is built of a commit
/// stays right however young its worktree is.
pub async fn make_old(tree: &Path) -> anyhow::Result<()> {
    // The year 2000: archives know no date before 1980.
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(946_684_800);
    let mut paths = vec![tree.to_owned()];
    while let Some(path) = paths.pop() {
        if path.is_symlink() || path.ends_with(".git") {
            continue;
        }
        // Cargo builds again what is younger, so a failure costs time only.
        let _ = fs::File::open(&path).and_then(|file| file.set_modified(time));
        paths.extend(path.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    // Its times differ from those in the index now, and `git diff-index` in a build would call that a change. It fails
    // where a file really differs.
    let _ = git::bytes(tree, &["update-index", "-q", "--refresh"]).await;
    Ok(())
}
