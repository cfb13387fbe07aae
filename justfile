# The habits of this workspace. `just` alone lists them; each is a line or two over cargo.

case_servers := "--package lock-scope --package hot-clone --package per-request-client --package double-parse --package tls-site --bin '*-slow' --bin '*-fixed' --bin tls-site --bin '*-batch'"

_list:
    @{{ just_executable() }} --list --unsorted

# Measure all cases (`--quick`: a rough look)
[group('measure')]
bench-all *FLAGS: _build _build-benches
    cargo bench --workspace --quiet -- {{ if FLAGS =~ '--quick' { '--quick --noplot' } else { '' } }}
    cargo run --release --quiet --bin lab -- bench --criterion {{ FLAGS }}

# Measure one case (`--steps`: each change alone)
[group('measure')]
bench *CASES_AND_FLAGS: _build
    cargo run --release --quiet --bin lab -- bench {{ CASES_AND_FLAGS }}

# Draw where the time goes, before and after (`--open`)
[group('measure')]
[positional-arguments]
flame *CASES_AND_FLAGS: _profiling
    cargo run --release --quiet --bin lab -- flame "$@"

# Make a record to publish: half an hour (`--name`)
[group('measure')]
record *FLAGS: _alternatives (bench "--pairs 15 --steps") (flame "all")
    cargo run --release --quiet --bin lab -- record {{ FLAGS }}

# Measure the load generator against wrk
[group('measure')]
bench-generator *FLAGS:
    @cargo run --release --quiet --bin lab -- bench-generator {{ FLAGS }}

# Say what makes figures wrong on this machine
[group('measure')]
doctor *FLAGS:
    @cargo run --release --quiet --bin lab -- doctor {{ FLAGS }}

# Compare two builds of your own server (`--help`)
[group('measure')]
[no-cd]
[positional-arguments]
compare *FLAGS:
    @cargo run --release --quiet --manifest-path {{ justfile_directory() / 'Cargo.toml' }} --bin lab -- compare "$@"

# Run any verb of the laboratory (`--help`)
[group('measure')]
[positional-arguments]
lab *ARGS:
    @cargo run --release --quiet --bin lab -- "$@"

# Count what a page costs: allocations and more
[group('measure')]
count *CASES_AND_FLAGS: _counting
    cargo run --quiet --bin lab -- count {{ CASES_AND_FLAGS }}

# Count instructions under Valgrind (`--update`)
[group('measure')]
bench-instructions *FLAGS:
    #!/usr/bin/env sh
    set -eu
    missing() { echo "skipped: $1 is missing; $2"; exit 0; }
    command -v valgrind >/dev/null || missing valgrind "your distribution has it: apt install valgrind"
    command -v gungraun-runner >/dev/null ||
        missing gungraun-runner "cargo install --locked gungraun-runner --version 0.20.0"
    counts=$(cargo bench --package benches --features instructions --bench instructions -- --output-format=json)
    printf '%s\n' "$counts" | cargo run --quiet --bin lab -- instructions {{ FLAGS }}

# Name the cases and their variants
[group('measure')]
list:
    @cargo run --release --quiet --bin lab -- list

# Start one server by hand: `just serve lock-scope-slow`
[group('measure')]
serve SERVER *FLAGS:
    cargo run --release --bin {{ SERVER }} -- {{ FLAGS }}

# Build the course and open it (`--mine`: your figures)
[group('read')]
book *FLAGS:
    #!/usr/bin/env sh
    set -eu
    fail() { echo "error: $1" >&2; exit 1; }
    command -v mdbook >/dev/null || fail "mdbook is missing: cargo install --locked mdbook"
    open=--open
    for flag in {{ FLAGS }}; do
        case $flag in
            --mine)
                cargo run --release --quiet --bin lab -- docs --mine
                export MDBOOK_BOOK__SRC=../target/lab/book-src ;;
            --no-open) open= ;;
            *) fail "\`just book\` takes --mine and --no-open, not $flag" ;;
        esac
    done
    # A link out of a chapter, to a record or a source file, has to hold in the site as well.
    rm -rf target/book
    mkdir -p target/book/docs
    cp -R docs/record target/book/docs/
    cp -R crates benches Cargo.toml justfile .clippy.toml target/book/
    mdbook build docs $open
    echo "the course is target/book/docs/src/index.html"

# Prove the workspace right
[group('check')]
test: && (count "--check")
    cargo test --workspace
    cargo test --package case-probe --all-features
    cargo build --workspace
    cargo run --quiet --bin lab -- verify

# Make the counts of now the reference
[group('check')]
update-counts: (count "--update")

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
    cargo clippy --workspace --all-targets --features benches/alternatives -- -D warnings
    cargo clippy --package case-probe --package case-server --all-targets --all-features -- -D warnings

# Fill the course's pages (`--check`, `--recipes`)
[group('course')]
docs *FLAGS:
    @cargo run --quiet --bin lab -- docs {{ FLAGS }}

# Check the course's pages; a stale figure is an error
[group('check')]
docs-check: (docs "--check")

# Build the API documentation; a broken link is an error
[group('check')]
api-docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Format the code
[group('check')]
fmt:
    cargo fmt --all

# The servers that count, put apart, and then the ordinary ones in their place again.
_counting:
    cargo build --workspace --bins --features case-server/count-allocations
    cargo run --quiet --bin lab -- keep --kind counting
    cargo build --workspace --bins

# The servers to be profiled: those that sample allocations, put apart, and then those that record
# spans and are sampled from outside. Only the four cases', and in `target/profiling`.
_profiling:
    cargo build --profile profiling {{ case_servers }} --features case-server/profile-heap
    cargo run --release --quiet --bin lab -- --bin-dir "${CARGO_TARGET_DIR:-target}/profiling" keep --kind heap
    cargo build --profile profiling {{ case_servers }} --features case-server/profile

_build:
    cargo build --release --workspace

_build-benches:
    cargo bench --workspace --no-run

# The alternatives to each fix, and where it stops mattering.
_alternatives:
    cargo bench --package benches --features alternatives --bench 'alternatives_*' --bench 'sweep_*'
