#!/usr/bin/env bash
# Compares a pull request with its base, on any CI. The exit code is the verdict's: 0 faster or
# equivalent, 1 slower, 3 undecided. Whatever fails, here too, is 2.
#
#   compare.sh BIN FLAG... [-- SERVER_ARG...]
#   BASE=origin/main HEAD=HEAD compare.sh my-server --port-arg=--port --get=/users
#   BENCH=parser compare.sh [FLAG...] [-- BENCH_ARG...]
#
# BENCH names a Criterion bench to compare instead of a server: each benchmark in it is a row of the comment, and there is
# no flame graph.
#
# The flags are those that `lab compare` and `lab flame` share. These variables change the rest:
#
#   BASE, HEAD     git revisions; by default those of the pull request in the file GITHUB_EVENT_PATH,
#                  which takes python3 to read
#   MINUTES        how long the runs may take at most, without the builds; a whole number [3]
#   EFFORT         more flags of `lab compare`, such as `--metric=cpu --minimum-effect=5`
#   FLAME_SECONDS  how long each build is profiled; 0 for no flame graph [5]
#   FAIL_ON        `undecided`: exit as above; `slower`: 0 if undecided; `never`: 0 whatever the verdict
#                  [undecided]
#   OUT            where comment.md and the artifacts go [lab-artifacts]
#
# It needs lab, git and cargo, a clone with its history, and no secret.
# shellcheck disable=SC2016 # backticks are Markdown
set -euo pipefail

out=${OUT:-lab-artifacts}
comment=$out/comment.md
log=$out/log.txt

# A failed command ends a script with its own exit code, which may be that of a verdict.
result=2
verdict=error
# That of an earlier call would be named after an early error.
rm -f "$comment"
finish() {
    # Nobody should look for a comment that an early error kept from being written.
    [ -f "$comment" ] || comment=
    printf '%s\n' "verdict=$verdict" "comment=$comment" >>"${GITHUB_OUTPUT:-/dev/null}" || result=2
    exit "$result"
}
trap finish EXIT

die() {
    echo "error: $*" >&2
    exit 2
}

if [ -n "${BENCH:-}" ]; then
    what=(--bench "$BENCH")
    FLAME_SECONDS=0
else
    [ $# -gt 1 ] || die "name the binary and a request: compare.sh BIN FLAG... [-- SERVER_ARG...]"
    bin=$1
    what=(--bin "$bin")
    shift
fi
flags=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    flags+=("$1")
    shift
done
[ $# -eq 0 ] || shift
# From here on, "$@" are the arguments of the server.

: "${MINUTES:=3}" "${FLAME_SECONDS:=5}" "${FAIL_ON:=undecided}"
for number in MINUTES FLAME_SECONDS; do
    [[ ${!number} =~ ^[0-9]{1,4}$ ]] || die "$number=${!number} is no whole number below 10000"
done
[[ $FAIL_ON =~ ^(undecided|slower|never)$ ]] || die "FAIL_ON=$FAIL_ON is none of undecided, slower, never"

sha() {
    local read='import json, sys; print(json.load(open(sys.argv[1]))["pull_request"][sys.argv[2]]["sha"])'
    python3 -c "$read" "${GITHUB_EVENT_PATH:-}" "$1" 2>/dev/null ||
        die "python3 finds no pull request in the file GITHUB_EVENT_PATH: set BASE and HEAD instead"
}
head=${HEAD:-$(sha head)}
base=${BASE:-$(sha base)}
# Commits that the base got later are not a change of this pull request.
base=$(git merge-base "$base" "$head") || die "the clone lacks $base or $head: fetch the whole history"
head=$(git rev-parse "$head")

mkdir -p "$out"
rm -rf "$out/flame"

# The comparison ends when its verdict is clear, or then.
what+=(--limit "$((10#$MINUTES > 0 ? 10#$MINUTES : 1))min")
[ -n "${BENCH:-}" ] || what+=(--open-loop 0)

code=0
# shellcheck disable=SC2086 # a list of flags
lab compare --rev "$base" --rev "$head" "${flags[@]}" "${what[@]}" ${EFFORT:-} ${1+--} "$@" 2>&1 | tee "$log" ||
    code=${PIPESTATUS[0]}

record=$(sed -n 's/^ *Results  *//p' "$log")
if [ -z "$record" ]; then
    code=2
    printf '### `lab compare`: error\n\n```text\n%s\n```\n' "$(tail -n 5 "$log")" >"$comment"
else
    cp "$record" "$out/record.json"
    lab report "$record" --markdown "$comment"
    lab report "$record" --output "$out/report.html"
fi

# The command of the build of a revision that `lab` used last.
built() {
    local last='' dir
    for dir in "${record%/runs/*}/revisions/$1"-*; do
        [ ! "$dir/complete" -nt "$last/complete" ] || last=$dir
    done
    shift
    printf '%q ' "$(readlink "$last/program")" "$@"
}
graph=
[ -n "${BENCH:-}" ] || graph="There is no flame graph: log.txt says why."
if [ -n "$record" ] && [ "$FLAME_SECONDS" -gt 0 ] &&
    lab flame --exec "$(built "$base" "$@")" --exec "$(built "$head" "$@")" "${flags[@]}" \
        --seconds "$FLAME_SECONDS" 2>&1 | tee -a "$log"; then
    cp -R "$(dirname "$(sed -n 's/^ *Page  *//p' "$log")")" "$out/flame"
    # Without a profiler, the page has no pictures of them.
    [ ! -e "$out/flame/diff.svg" ] || graph='`flame/index.html` has the flame graphs of both builds and of their difference.'
fi

where="the directory \`$out\`"
[ -z "${GITHUB_RUN_ID:-}" ] ||
    where="the artifacts of [this run]($GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID)"
printf '\nThe record and the log are in %s. %s\n' "$where" "$graph" >>"$comment"

cat "$comment" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
# Anything else is an error, or the signal that ended `lab`.
[[ $code =~ ^[013]$ ]] || exit 2
verdict=$(sed -n '1s/.*: //p' "$comment")
case $FAIL_ON-$code in
    never-* | slower-3) result=0 ;;
    *) result=$code ;;
esac
