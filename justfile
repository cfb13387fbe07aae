# The habits of this workspace. `just` alone lists them; CONTRIBUTING.md says why the builds are as they are.
lab := "exec cargo run --release --quiet --bin lab --"
lab_from_anywhere := "exec cargo run --release --quiet --manifest-path '" + justfile_directory() / "Cargo.toml' --bin lab --"
book := "exec cargo run --release --quiet --bin lab-book --"
release := "--release --workspace"
servers := "--bin '*-*-slow' --bin '*-*-fixed' --bin tls-site"
shared := "--workspace --exclude lock-scope --exclude quotes --exclude lab-load"
apart := "--config profile.release.package.lab-load.opt-level=0 " + \
    "--package lock-scope --package quotes --package lab-load --package case-probe --package benches --features case-probe/count-allocations,case-probe/profile-heap"
with_postgres := "--features query-per-row/postgres --bin query-per-row-slow --bin query-per-row-in-list --bin query-per-row-fixed"
python := "PYTHONDONTWRITEBYTECODE=1 python3"
replications := python + " benches/replications"
_list:
    @{{ just_executable() }} --list --unsorted

# Measure all cases (`--quick`: a first look, without Criterion)
[group('measure')]
bench-all *FLAGS:
    cargo build {{ release }} --bin lab {{ servers }}
    {{ if FLAGS =~ '--quick' { '' } else { 'cargo bench ' + shared + ' --quiet --' } }}
    {{ lab }} bench {{ if FLAGS =~ '--quick' { '' } else { '--criterion' } }} {{ FLAGS }}

# Measure one case (`--steps`: each change alone)
[group('measure')]
[no-exit-message]
bench *CASES_AND_FLAGS: _lab
    {{ lab }} bench {{ CASES_AND_FLAGS }}

# Draw where the time goes, before and after (`--open`)
[group('measure')]
[positional-arguments]
[no-exit-message]
flame *CASES_AND_FLAGS: _lab_and_flamegraph
    {{ lab }} flame "$@"

# Count what a page costs: allocations and more
[group('measure')]
[no-exit-message]
count *CASES_AND_FLAGS: _lab
    {{ lab }} count {{ CASES_AND_FLAGS }}

# Find what limits a server: your own, or `tariffs-slow`
[group('measure')]
[no-cd]
[positional-arguments]
[no-exit-message]
triage *FLAGS: _lab_and_flamegraph
    @{{ lab_from_anywhere }} triage "$@"

# Compare two builds of your own server (`--help`)
[group('measure')]
[no-cd]
[positional-arguments]
[no-exit-message]
compare *FLAGS: _lab
    @{{ lab_from_anywhere }} compare "$@"

# Say what distorts figures on this machine
[group('measure')]
doctor: _lab
    @{{ lab }} doctor

# Run any verb of the laboratory (`--help`)
[group('measure')]
[positional-arguments]
[no-exit-message]
lab *ARGS: _lab
    @{{ lab }} "$@"

# Below `lab`, as in every measurement.
#
# Start one server by hand: `just serve tariffs-slow`
[group('measure')]
serve SERVER *FLAGS:
    cargo build {{ release }} --bin lab --bin {{ SERVER }}
    @{{ lab }} supervise -- "${CARGO_TARGET_DIR:-target}"/release/{{ SERVER }} {{ FLAGS }}

# Count instructions under Valgrind (`-- --help`)
[group('measure')]
bench-instructions *FLAGS:
    cargo bench --package benches --features instructions --bench instructions {{ FLAGS }}

# Make a record to publish: half an hour (`--name`)
[group('measure')]
record *FLAGS: _alternatives (bench "--pairs 12 --steps --warm-up 1.2 --measurement 1.8 --open-loop 20") (flame "all")
    {{ book }} record {{ FLAGS }}

# Make a record of one case that changed: five minutes
[group('measure')]
record-case CASE *FLAGS: (bench CASE "--pairs 12 --steps --warm-up 1.2 --measurement 1.8 --open-loop 20") (flame CASE)
    {{ book }} record --case {{ CASE }} {{ FLAGS }}

# Build everything that the course needs: a few minutes, once
[group('practise')]
[no-exit-message]
prepare: _lab
    @{{ lab }} practice prepare

# Begin a fix of your own: a copy of slow, as mine.rs
[group('practise')]
[no-exit-message]
try CASE: _lab
    @{{ lab }} practice try {{ CASE }}

# Judge your fix: answers, mechanism, speed (`--watch`)
[group('practise')]
[no-exit-message]
check *CASES_AND_FLAGS: _lab
    @{{ lab }} practice check {{ CASES_AND_FLAGS }}

# Write down suspect and factor before you measure
[group('practise')]
[no-exit-message]
predict CASE *FLAGS: _lab
    @{{ lab }} practice predict {{ CASE }} {{ FLAGS }}

# Show one more hint
[group('practise')]
[no-exit-message]
hint CASE: _lab
    @{{ lab }} practice hint {{ CASE }}

# Explain our fix, after yours has passed (`--give-up`)
[group('practise')]
[no-exit-message]
solution CASE *FLAGS: _lab
    @{{ lab }} practice solution {{ CASE }} {{ FLAGS }}

# Begin again; your fix becomes mine.rs.old
[group('practise')]
[no-exit-message]
reset CASE *FLAGS: _lab
    @{{ lab }} practice reset {{ CASE }} {{ FLAGS }}

# List what you can fix, and how far you are
[group('practise')]
[no-exit-message]
exercises: _lab
    @{{ lab }} practice exercises

# Find out what is wrong with a server that you don't know (`--help`)
[group('practise')]
[positional-arguments]
[no-exit-message]
mystery *FLAGS:
    @{{ if FLAGS =~ '(^| )(-h|--help)( |$)' { 'cat crates/exercises/mystery/help.txt; exit;' } else { '' } }} cargo build {{ release }} --bin mystery && exec "${CARGO_TARGET_DIR:-target}"/release/mystery "$@"

# Build the course and open it
[group('read')]
[no-exit-message]
book *FLAGS:
    @docs/book.sh {{ FLAGS }}

# The tests from outside mostly wait for servers, so eight of them share two cores.
#
# Prove the workspace right
[group('check')]
test: _build && (verify) (count "--check")
    cargo test --release {{ shared }} -- --test-threads 8
    cargo test --release {{ apart }}

# The tests of the laboratory whose names contain this, with the features of `test`, so that nothing compiles twice
[private]
quick-test NAME:
    cargo test --release {{ shared }} --lib --bins --test from_outside -- {{ NAME }}

# Ask every server once, and say what a case still lacks
[group('check')]
[no-exit-message]
verify *CASES: _lab
    {{ lab }} verify {{ CASES }}

# Check that no command compiles what another one has
[private]
build-once:
    @.ci/build_once.py

# Check licences, sources and versions of the dependencies, and known vulnerabilities
[private]
dependencies:
    @if command -v cargo-deny >/dev/null; then cargo deny check; else echo "skipped: no cargo-deny; cargo install --locked cargo-deny"; fi

# Judge untouched copies, our fixes, cheats and other fixes in a copy of the workspace, and malicious servers
[private]
practice-test *NAMES:
    cargo build --release {{ shared }} --quiet --examples
    cargo test --release {{ shared }} --test from_outside -- --ignored {{ NAMES }}

# Find words that make a reader read twice, and misspelt ones
[private]
prose:
    @if command -v typos >/dev/null; then typos; else echo "skipped: no typos; pip install typos"; fi

# Check scripts and workflows, shellcheck and actionlint
[private]
lint-action:
    @.github/actions/compare/lint.sh

# Open every page and picture in Chromium
[private]
browser-test:
    @python3 docs/browser_test.py

# Check a change, and list what passed, failed or was skipped
[group('check')]
ci:
    @.ci/checks.py fmt-check prose "test & lint & api-docs" "practice-test our_fixes" docs-check _replication-tests

# Check what takes an hour: before a release, and what `.ci/long` guards
[group('check')]
ci-long: _build
    @.ci/checks.py --list .ci/long

# Check that the code is formatted
[private]
fmt-check:
    cargo fmt --all --check

# Check with clippy, and that a type's name exists once; a warning is an error
[group('check')]
lint:
    @.ci/names.py
    cargo clippy {{ release }} --all-targets --features benches/alternatives,benches/replications -- -D warnings
    cargo clippy --release --package case-probe --all-targets --all-features -- -D warnings
    cargo clippy --release --package case-server --lib --all-features -- -D warnings

# Build the API documentation; a broken link is an error
[private]
api-docs:
    RUSTDOCFLAGS="-D warnings" cargo doc {{ release }} --no-deps

# Check the course's pages; a stale figure is an error
[private]
docs-check: (docs "--check")

# Format the code
[group('check')]
fmt:
    cargo fmt --all

# Fill in the course's pages (`--check`: only say what is stale)
[group('course')]
docs *FLAGS:
    cargo build {{ release }} --bin lab-book
    @{{ book }} docs {{ FLAGS }}

# Run the articles' own tools against the cases (no name: the list)
[group('replicate')]
[positional-arguments]
replicate *NAME_AND_FLAGS:
    @{{ if NAME_AND_FLAGS =~ '^(|-.*)$' { '' } else { 'cargo build ' + release } }}
    @{{ if NAME_AND_FLAGS =~ '^postgres' { 'cargo build ' + release + ' ' + with_postgres } else { '' } }}
    @{{ replications }} "$@"

# Load one server with every load generator in turn
[group('replicate')]
crosscheck CASE *FLAGS: _build
    @{{ replications }} crosscheck {{ CASE }} {{ FLAGS }}

# Load all fixed servers for an hour, next to broken clients
[group('check')]
soak *MINUTES_AND_FLAGS: _build
    @{{ replications }} soak {{ MINUTES_AND_FLAGS }}

# Fail one system call in each run of `lab`, and more: 15 minutes
[group('check')]
torture *MINUTES_AND_FLAGS: _build
    @{{ replications }} torture {{ MINUTES_AND_FLAGS }}

# What the replications compute, without their tools.
_replication-tests: _lab
    cargo test --release {{ shared }} --features benches/replications --quiet --test request_counts
    @{{ python }} benches/replications/test_replications.py

# Start a case of your own; with --exercise, an exercise
[group('course')]
new-case NAME *FLAGS:
    @{{ python }} docs/new-case/new_case.py {{ NAME }} {{ FLAGS }}
    @cargo fmt --all

_lab:
    cargo build {{ release }} --bin lab

_lab_and_flamegraph:
    cargo build {{ release }} --bin lab --bin lab-flamegraph

_build:
    cargo build {{ release }}

# The alternatives to each fix, and where it stops mattering. What earlier calls measured goes: a bench may be gone.
_alternatives:
    rm -rf "${CARGO_TARGET_DIR:-target}"/criterion/alternatives-* "${CARGO_TARGET_DIR:-target}"/criterion/sweep-*
    cargo bench --package benches --features alternatives --bench 'alternatives_*' --bench 'sweep_*'
