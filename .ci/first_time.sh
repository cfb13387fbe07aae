#!/usr/bin/env bash
# Runs the first block of the README as it stands, in a fresh clone of the last commit, and with nothing in PATH but
# cargo, git, a C compiler and what every Linux has. Says how long each of its lines takes.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/bin"
# GNU coreutils, util-linux, and the few others that a shell script relies on.
for tool in cargo rustc rustup git cc c++ ar as ld sh bash awk find getconf grep ps sed tar xargs \
    '[' basename cat chmod cp cut date dirname echo env expr false head id kill ln ls mkdir mkfifo mktemp mv nice nohup nproc \
    prlimit pwd readlink rm rmdir script seq setsid sleep sort stat tail taskset tee test timeout touch tr true uname wc yes; do
    path=$(type -P "$tool") && ln -s "$path" "$work/bin/$tool"
done
block=$(awk '/^```sh/ { inside = 1; next } /^```/ && inside { exit } inside' README.md)
export CARGO_INSTALL_ROOT=$work/installed PATH=$work/installed/bin:$work/bin
unset CI CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR

git clone -q "$here" "$work/clone"
cd "$work/clone"
times=()
while IFS= read -r line; do
    echo
    echo "\$ $line"
    start=$SECONDS
    eval "$line" </dev/null
    times+=("$(printf '%3d:%02d  %s' $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)) "${line%%  #*}")")
done <<<"$block"
echo
printf '%s\n' "${times[@]}"
