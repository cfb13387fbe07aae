#!/bin/sh
# Installs lab and lab-flamegraph from a release into ~/.local/bin, or into the directory LAB_TO. If another program is
# called lab, LAB_NAME is the name that it gets. LAB_FROM is where the archives are, if elsewhere.
set -eu
version=${LAB_VERSION:-@VERSION@}
from=${LAB_FROM:-@ADDRESS@/releases/download/v$version}
to=${LAB_TO:-$HOME/.local/bin}
case $(uname -s)-$(uname -m) in
    Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
    Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-gnu ;;
    *) echo "error: no archive for this system; cargo install --locked --git @ADDRESS@ before-after builds lab" >&2; exit 1 ;;
esac
name=before-after-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for file in "$name.tar.gz" "$name.tar.gz.sha256"; do curl -fsSL --proto '=https,file' -o "$file" "$from/$file"; done
sha256sum --quiet --check "$name.tar.gz.sha256" || { echo "error: this isn't the archive that was released; nothing was installed" >&2; exit 1; }
tar -xzf "$name.tar.gz"
mkdir -p "$to"
install -m 755 "$name/lab" "$to/${LAB_NAME:-lab}"
install -m 755 "$name/lab-flamegraph" "$to/lab-flamegraph"
echo "installed $("$to/${LAB_NAME:-lab}" --version) in $to"
case ":$PATH:" in *":$to:"*) ;; *) echo "note: $to isn't in PATH" ;; esac
