#!/usr/bin/env bash
# Puts `lab` into PATH, unless it is there: from the archive of the release that this action belongs to, or compiled, if the
# action is at a commit without a release, or the archive can't be had.
set -euo pipefail
if command -v lab; then exit; fi
root=$GITHUB_ACTION_PATH/../../..
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
to=$RUNNER_TEMP/lab-bin

# Whether an archive of this version was made from this commit: a tag says so, and of a commit, the program.
is_ours() {
    case $REF in
        "v$version") true ;;
        *) [[ $REF =~ ^[0-9a-f]{40}$ && $("$to/lab" --version) == *"(${REF:0:8})" ]] ;;
    esac
}

if LAB_FROM=$REPOSITORY/releases/download/v$version LAB_VERSION=$version LAB_TO=$to sh "$root/.ci/install.sh" && is_ours; then
    echo "$to" >>"$GITHUB_PATH"
else
    echo "no archive of this commit: compiling lab, which takes two minutes"
    rm -rf "$to"
    cargo install --locked --path "$root/crates/lab/cli"
fi
