# The habits of this workspace; `just` lists them all. Three are what it is for:
#
#     just bench-all    measure each slow server next to its fix
#     just flame CASE   draw where the time goes, before and after
#     just book         read the course
#
# Then `just try CASE --watch`, for a fix of your own, and `just test`. `.ci/build` says what each habit compiles, and why.
#
# CI runs it with just 1.35, the oldest that it is promised for. One that is too old for it shows a line with that
# number as its error. `set minimum-version` would say it better, and needs 1.55 itself.
set quiet # needs just 1.35 or later: cargo install --locked just
set positional-arguments

lab := "exec cargo run --release --quiet --bin lab --"
from_anywhere := "exec cargo run --release --quiet --manifest-path '" + justfile_directory() / "Cargo.toml' --bin lab --"
book := "exec cargo run --release --quiet --bin lab-book --"
python := "PYTHONDONTWRITEBYTECODE=1 python3"
replications := python + " benches/replications"
for_the_record := "--pairs 12 --steps --warm-up 1.2 --measurement 1.8 --open-loop 20"

_list:
    echo "Begin with one of these:"
    echo "    just bench-all --quick   measure each slow server next to its fix"
    echo "    just flame idle-server   draw where its time goes, before and after"
    echo "    just book                read the course, then fix one: just try"
    echo
    {{ just_executable() }} --list --unsorted

# Measure all cases (--quick: a first look)
[group('measure')] # needs just 1.35 or later: cargo install --locked just
[no-exit-message]
bench-all *FLAGS:
    .ci/build cases
    {{ if FLAGS =~ '--quick|--help|-h' { '' } else { '.ci/build criterion' } }}
    {{ lab }} practice bench {{ if FLAGS =~ '--quick' { '' } else { '--criterion' } }} {{ FLAGS }}

# Measure one case (--steps: each change alone)
[group('measure')]
[no-exit-message]
bench *CASE: _lab
    {{ lab }} practice bench "$@"

# Draw where the time goes, before and after
[group('measure')]
[no-exit-message]
flame *CASE: _profiler
    {{ lab }} flame "$@"

# Count what a page costs: allocations and more
[group('measure')]
[no-exit-message]
count *CASE: _lab
    {{ lab }} count "$@"

# Find what limits a server, your own too
[group('measure')]
[no-cd]
[no-exit-message]
triage *FLAGS: _profiler
    {{ from_anywhere }} triage "$@"

# Compare two builds of your own server
[group('measure')]
[no-cd]
[no-exit-message]
compare *FLAGS: _lab
    {{ from_anywhere }} compare "$@"

# Run any verb of the laboratory: doctor, report
[group('measure')]
[no-exit-message]
lab *VERB: _lab
    {{ lab }} "$@"

# Build all that the course needs, once
[group('learn')]
[no-exit-message]
prepare: _lab
    {{ lab }} practice prepare

# Run a slow server, and what it needs
[group('learn')]
[no-exit-message]
serve *CASE: _lab
    {{ lab }} practice serve "$@"

# Answer a question about recorded figures, a minute each
[group('learn')]
[no-exit-message]
drill *NUMBER: _lab
    {{ lab }} practice drill "$@"

# Write down what you suspect, before you measure
[private]
[no-exit-message]
predict *CASE: _lab
    {{ lab }} practice predict "$@"

# Fix one yourself (--watch: judge each save)
[group('learn')]
[no-exit-message]
try *CASE: _lab
    {{ lab }} practice try "$@"

# List what you can fix, and how good you guess
[group('learn')]
[no-exit-message]
exercises: _lab
    {{ lab }} practice exercises

# Judge your fix: answers, mechanism, speed
[group('learn')]
[no-exit-message]
check *CASE: _lab
    {{ lab }} practice check "$@"

# Show one more hint
[group('learn')]
[no-exit-message]
hint CASE: _lab
    {{ lab }} practice hint "$@"

# Explain our fix, once yours has passed
[group('learn')]
[no-exit-message]
solution CASE *FLAGS: _lab
    {{ lab }} practice solution "$@"

# Measure the shop: one number; keep or revert
[group('learn')]
[no-exit-message]
contest *FLAGS: _lab
    {{ lab }} practice contest "$@"

# Find what is wrong with a server you don't know
[group('learn')]
[no-exit-message]
mystery *FLAGS:
    {{ if FLAGS =~ '(^| )(-h|--help)( |$)' { 'cat crates/exercises/mystery/help.txt; exit' } else { '.ci/build mystery' } }}
    exec cargo run --release --quiet --bin mystery -- "$@"

# Build the course as a site, and open it
[group('learn')]
[no-exit-message]
book *FLAGS:
    docs/book.sh "$@"

# Prove the workspace right
[group('check')]
test:
    .ci/build tests

# Check a change (--long: what takes an hour)
[group('check')]
ci *LONG:
    .ci/build {{ if LONG == '--long' { 'workspace' } else { 'checks' } }}
    .ci/checks.py {{ if LONG == '--long' { '.ci/long' } else { '.ci/short' } }}

# Run other tools against the cases, soak, torture
[group('check')]
replicate *NAME:
    {{ if NAME =~ '^(|-.*)$' { '' } else if NAME =~ '^postgres' { '.ci/build postgres' } else { '.ci/build workspace' } }}
    {{ replications }} "$@"

# Start a case of your own (--exercise)
[group('write')]
new-case NAME *FLAGS:
    {{ python }} docs/new-case/new_case.py "$@"
    cargo fmt --all

# Fill in the course's pages (--check: only look)
[private]
docs *FLAGS: _book
    {{ book }} docs "$@"

# Measure what the pages quote, or one case of it
[private]
record *CASE: _lab _profiler _book
    {{ if CASE == '' { '.ci/build alternatives' } else { '' } }}
    cargo run --release --quiet --bin lab -- bench {{ CASE }} {{ for_the_record }}
    cargo run --release --quiet --bin lab -- flame {{ if CASE == '' { 'all' } else { CASE } }}
    {{ book }} record {{ if CASE == '' { '' } else { '--case ' + CASE } }}

# The rest is for those who change the workspace, and for a page of the course. Checks that nobody types are in `.ci`.

# Measure what allocators, builds and workers do for a case
[private]
settings *CASE: _workspace
    {{ replications }} settings "$@"

# Draw the table of the README anew, in three minutes, and the card that a link to the site shows
[private]
picture: _lab
    {{ python }} docs/picture.py --out docs/theme/bench-all.svg -- just bench-all --quick
    chromium --headless --no-sandbox --hide-scrollbars --window-size=1200,630 \
        --screenshot=docs/theme/card.png docs/theme/card.html

# Check with clippy, and that a type's name exists once; a warning is an error
[private]
lint:
    .ci/names.py
    cargo clippy --release --workspace --all-targets --features benches/alternatives,benches/replications -- -D warnings
    cargo clippy --release --package case-probe --package small-writes --all-targets \
        --features case-probe/count-allocations,case-probe/profile-heap,small-writes/count -- -D warnings
    cargo clippy --release --package case-server --lib --all-features -- -D warnings

_lab:
    .ci/build lab

_profiler:
    .ci/build profiler

_book:
    .ci/build book

_workspace:
    .ci/build workspace
