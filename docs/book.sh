#!/usr/bin/env sh
# Builds the course as a site in target/book, in English and in Chinese, and opens it. `--no-open` only builds. If SITE_URL
# is where the site will be, its pages say so to search engines and to previews of links.
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

# Says where a page is, and what a preview of a link to it shows.
# FILE
preview() {
    title=$(sed -n 's|.*<title>\(.*\)</title>.*|\1|p' "$1" | sed 's/[&|]/\\&/g')
    about=$(sed -n 's|.*<meta name="description" content="\([^"]*\)".*|\1|p' "$1" | sed 's/[&|]/\\&/g')
    url=$SITE_URL/${1#target/book/}
    sed "s|</head>|<link rel=\"canonical\" href=\"$url\"><meta property=\"og:url\" content=\"$url\"><meta property=\"og:title\" content=\"$title\"><meta property=\"og:description\" content=\"$about\"><meta property=\"og:image\" content=\"$SITE_URL/card.png\"><meta name=\"twitter:card\" content=\"summary_large_image\">&|" "$1" >"$1.new"
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
        link "target/book/docs/src/$html" "${up}zh-CN/src/$html" zh-CN "中文 · Chinese" 这一页的中文版
        link "target/book/docs/zh-CN/src/$html" "../${up}src/$html" en English "This page in English"
    else
        link "target/book/docs/src/$html" "${up}zh-CN/src/index.html" zh-CN "中文 · Chinese" 这一页还没有中文版：回到中文首页
    fi
done
# The only page without an English form explains English words in Chinese.
link target/book/docs/zh-CN/src/words.html ../../src/index.html en English "The course in English"
# mdBook names the first page index.html, and leaves links to README.md as they are.
for site in target/book/docs/src target/book/docs/zh-CN/src; do
    cp "$site/index.html" "$site/README.html"
done
cp docs/theme/card.png docs/theme/bench-all.svg target/book/
head='<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style>html { background: Canvas; color: CanvasText; } body { font: 18px/1.5 system-ui, sans-serif; max-width: 40em; margin: 3em auto; padding: 0 1em; } img { max-width: 100%; }</style>'
report=''
[ -z "${SITE_URL-}" ] || report='<li><a href="results.html">All results</a></li><li><a href="report.html">The newest report</a></li>'
cat >target/book/index.html <<END
<!DOCTYPE html>
<html lang="en">
<head>
$head
<title>Rust web services, before and after</title>
<meta name="description" content="Find a performance fault in a Rust web service, fix it, and prove it, on your own machine">
</head>
<body>
<h1>Rust web services, before and after</h1>
<p>Find a performance fault in a Rust web service, fix it, and prove it, on your own machine. Then measure your own service.</p>
<ul><li><a href="docs/src/index.html">The course</a></li><li><a href="docs/zh-CN/src/index.html" lang="zh-CN">中文 · Chinese</a></li>$report</ul>
<img src="bench-all.svg" alt="A terminal with the verdict about each of seven cases">
</body>
</html>
END
if [ -n "${SITE_URL-}" ]; then
    find target/book/index.html target/book/docs/src target/book/docs/zh-CN/src -name '*.html' ! -name print.html ! -name toc.html |
        while read -r page; do preview "$page"; done
    # Shown for any address below the site, so its links name the site.
    cat >target/book/404.html <<END
<!DOCTYPE html>
<html lang="en">
<head>
$head
<title>Not here</title>
</head>
<body>
<h1>This page isn't here</h1>
<p>It may have got another name. <a href="$SITE_URL/docs/src/index.html">The course</a> has a search, and
<a href="$SITE_URL/docs/zh-CN/src/index.html" lang="zh-CN">中文 · Chinese</a>, too.</p>
</body>
</html>
END
fi
echo "the course is target/book/docs/src/index.html, and in Chinese target/book/docs/zh-CN/src/index.html"
[ -z "$open" ] || xdg-open target/book/docs/src/index.html 2>/dev/null || open target/book/docs/src/index.html
