#!/usr/bin/env sh
# Builds the course as a site in target/book and opens it. `--no-open` only builds.
set -eu
cd "$(dirname "$0")/.."
open=--open
for flag in "$@"; do
    case $flag in
        --no-open) open= ;;
        *) echo "error: \`just book\` takes --no-open, not $flag" >&2; exit 1 ;;
    esac
done
command -v mdbook >/dev/null ||
    { echo "error: mdbook is missing; install it with \`cargo install --locked mdbook\`" >&2; exit 1; }
# Chapters link to records and source files, so the site needs copies of them.
rm -rf target/book
mkdir -p target/book/docs
cp -R docs/record docs/replications target/book/docs/
cp -R crates benches Cargo.toml justfile .clippy.toml target/book/
mdbook build docs $open
echo "the course is target/book/docs/src/index.html"
