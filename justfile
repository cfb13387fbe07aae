# The habits of this workspace. `just` alone lists them; each is a line or two over cargo.

lab := "cargo run --release --quiet --bin lab --"

# Measuring and testing share one build. Left out are two packages whose tests stop Tokio's clock:
# with them, cargo would build Tokio and everything above it once more. They are tested on their own.
shared := "--workspace --exclude lock-scope --exclude lab-load"
stop_the_clock := "--package lock-scope --package lab-load"
replicate := "PYTHONPATH=replications PYTHONDONTWRITEBYTECODE=1 python3 replications"

_list:
    @{{ just_executable() }} --list --unsorted

# Measure all cases (`--quick`: a rough look)
[group('measure')]
bench-all *FLAGS: _build
    cargo bench {{ shared }} --quiet -- {{ if FLAGS =~ '--quick' { '--quick --noplot' } else { '' } }}
    {{ lab }} bench --criterion {{ FLAGS }}

# Measure one case (`--steps`: each change alone)
[group('measure')]
bench *CASES_AND_FLAGS: _build
    {{ lab }} bench {{ CASES_AND_FLAGS }}

# Draw where the time goes, before and after (`--open`)
[group('measure')]
[positional-arguments]
flame *CASES_AND_FLAGS: _build
    {{ lab }} flame "$@"

# Count what a page costs: allocations and more
[group('measure')]
count *CASES_AND_FLAGS: _build
    {{ lab }} count {{ CASES_AND_FLAGS }}

# Say what ails a server: your own or `lock-scope-slow`
[group('measure')]
[no-cd]
[positional-arguments]
triage *FLAGS:
    @cargo run --release --quiet --manifest-path {{ justfile_directory() / 'Cargo.toml' }} --bin lab -- triage "$@"

# Compare two builds of your own server (`--help`)
[group('measure')]
[no-cd]
[positional-arguments]
compare *FLAGS:
    @cargo run --release --quiet --manifest-path {{ justfile_directory() / 'Cargo.toml' }} --bin lab -- compare "$@"

# Say what distorts figures on this machine
[group('measure')]
doctor:
    @{{ lab }} doctor

# Run any verb of the laboratory (`--help`)
[group('measure')]
[positional-arguments]
lab *ARGS:
    @{{ lab }} "$@"

# Name the cases and their variants
[group('measure')]
list:
    @{{ lab }} list

# Start one server by hand: `just serve lock-scope-slow`
[group('measure')]
serve SERVER *FLAGS:
    cargo run --release --bin {{ SERVER }} -- {{ FLAGS }}

# Count instructions under Valgrind (`-- --help`)
[group('measure')]
bench-instructions *FLAGS:
    cargo bench --package benches --features instructions --bench instructions {{ FLAGS }}

# Make a record to publish: half an hour (`--name`)
[group('measure')]
record *FLAGS: _alternatives (bench "--pairs 12 --steps --warm-up 1.2 --measurement 1.8 --open-loop 20") (flame "all")
    {{ lab }} record {{ FLAGS }}

# Build the course and open it (`--mine`: your figures)
[group('read')]
book *FLAGS:
    @docs/book.sh {{ FLAGS }}

# Prove the workspace right
[group('check')]
test: _build && (verify) (count "--check")
    cargo test --release {{ shared }}
    cargo test {{ stop_the_clock }}
    cargo test --package case-probe --all-features

# Ask every server once, and say what a case still lacks
[group('check')]
verify *CASES: _build
    {{ lab }} verify {{ CASES }}

# Make the counts of now the reference
[group('check')]
update-counts: (count "--update")

# Find words that make a reader read twice, and misspelt ones
[group('check')]
prose:
    @if command -v typos >/dev/null; then typos; else echo "skipped: no typos; pip install typos"; fi

# Check the GitHub action with shellcheck and actionlint
[group('check')]
lint-action:
    @.github/actions/compare/lint.sh

# Open every page and picture in Chromium
[group('check')]
browser-test:
    @python3 docs/browser_test.py

# All that CI checks
[group('check')]
ci: fmt-check lint test api-docs docs-check

# Check that the code is formatted
[group('check')]
fmt-check:
    cargo fmt --all --check

# Check with clippy; a warning is an error
[group('check')]
lint:
    cargo clippy --workspace --all-targets --features benches/alternatives,benches/replications -- -D warnings
    cargo clippy --package case-probe --package case-server --all-targets --all-features -- -D warnings

# Build the API documentation; a broken link is an error
[group('check')]
api-docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Check the course's pages; a stale figure is an error
[group('check')]
docs-check: (docs "--check")

# Format the code
[group('check')]
fmt:
    cargo fmt --all

# Fill in the course's pages (`--check`: only say what is stale)
[group('course')]
docs *FLAGS:
    @{{ lab }} docs {{ FLAGS }}

# Load a case with Locust: 3 minutes (`--help`)
[group('replicate')]
locust CASE *FLAGS: _build
    @{{ replicate }}/locust/run.py {{ CASE }} {{ FLAGS }}

# Load one server with wrk, oha, ab, k6 and lab in turn
[group('replicate')]
crosscheck CASE *FLAGS: _build
    @{{ replicate }}/crosscheck/run.py {{ CASE }} {{ FLAGS }}

# Load a page in Chromium through four proxies: 4 minutes
[group('replicate')]
replicate-proxy *FLAGS: _build
    @{{ replicate }}/proxy/run.py {{ FLAGS }}

# Compare Varnish, nginx and our proxy with ab: 4 minutes
[group('replicate')]
replicate-varnish *FLAGS: _build
    @{{ replicate }}/varnish/run.py {{ FLAGS }}

# Count allocations with heaptrack, next to our counts
[group('replicate')]
heaptrack CASE *FLAGS: _build
    @{{ replicate }}/memory/run.py heaptrack {{ CASE }} {{ FLAGS }}

# Count allocations with DHAT, next to our counts
[group('replicate')]
dhat CASE *FLAGS: _build
    @{{ replicate }}/memory/run.py dhat {{ CASE }} {{ FLAGS }}

# Count instructions with cachegrind
[group('replicate')]
cachegrind CASE *FLAGS: _build
    @{{ replicate }}/memory/run.py cachegrind {{ CASE }} {{ FLAGS }}

# Record a loaded server with perf, for Hotspot
[group('replicate')]
hotspot CASE *FLAGS: _build
    @{{ replicate }}/hotspot/run.py {{ CASE }} {{ FLAGS }}

# Measure four versions of the MongoDB driver: 4 minutes
[group('replicate')]
replicate-mongodb *FLAGS:
    @{{ replicate }}/mongodb/run.py {{ FLAGS }}

# List the tools of the replications, and how to install them
[group('replicate')]
replications-doctor:
    @{{ replicate }}/doctor.py

# Check all replications in their short form: 15 minutes
[group('replicate')]
ci-replications: (replicate-mongodb "--short") test-replications

# Check the replications that need no long build, as CI does
[group('replicate')]
test-replications: (locust "lock-scope" "--short") (crosscheck "lock-scope" "--short") (crosscheck "hot-clone" "--stalls" "--short") (heaptrack "hot-clone" "--short") (dhat "hot-clone" "--short") (cachegrind "hot-clone" "--short") (hotspot "hot-clone" "--short") (replicate-proxy "--short") (replicate-varnish "--short")
    cargo test --release {{ shared }} --features benches/replications --quiet --test request_counts
    @{{ replicate }}/test_replications.py

# Start a case of your own
[group('course')]
new-case NAME:
    @{{ lab }} new-case {{ NAME }}
    @cargo fmt --all

_build:
    cargo build --release --workspace

# The alternatives to each fix, and where it stops mattering.
_alternatives:
    cargo bench --package benches --features alternatives --bench 'alternatives_*' --bench 'sweep_*'
