#!/usr/bin/env sh
# Builds the course as a site in target/book, in English and in Chinese, and opens it. `--no-open` only builds.
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

# Puts a link to the other language into the header of a page.
# FILE TARGET LANGUAGE LABEL TITLE
link() {
    sed "s|<div class=\"right-buttons\">|&<a class=\"language\" href=\"$2\" hreflang=\"$3\" lang=\"$3\" title=\"$5\">$4</a>|" "$1" >"$1.new"
    mv "$1.new" "$1"
}

# Chapters link to records and source files, so the site needs copies of them.
rm -rf target/book
mkdir -p target/book/docs
cp -R docs/record docs/replications target/book/docs/
cp -R crates benches Cargo.toml justfile .clippy.toml target/book/
# This one writes pages without a translation to where the English book then replaces them.
mdbook build docs/zh-CN
mdbook build docs

(cd docs/src && find . -name '*.md' ! -name SUMMARY.md) | while read -r page; do
    html=$(echo "${page%.md}.html" | sed 's|^\./||; s|README\.html$|index.html|')
    # From the page to docs/: a step for `src`, and one for each directory below it.
    up=$(echo "../$html" | sed 's|[^/]*$||; s|[^/]*/|../|g')
    if [ -e "docs/zh-CN/src/$page" ]; then
        link "target/book/docs/src/$html" "${up}zh-CN/src/$html" zh-CN 中文 这一页的中文版
        link "target/book/docs/zh-CN/src/$html" "../${up}src/$html" en English "This page in English"
    else
        link "target/book/docs/src/$html" "${up}zh-CN/src/index.html" zh-CN 中文 这一页还没有中文版：回到中文首页
    fi
done
# mdBook names the first page index.html, and leaves links to README.md as they are.
for site in target/book/docs/src target/book/docs/zh-CN/src; do
    cp "$site/index.html" "$site/README.html"
done
echo "the course is target/book/docs/src/index.html, and in Chinese target/book/docs/zh-CN/src/index.html"
[ -z "$open" ] || xdg-open target/book/docs/src/index.html 2>/dev/null || open target/book/docs/src/index.html
