//! What a running server's program is made of, as its process shows it: its size, its libraries and its allocator.

use std::{collections::BTreeSet, fs, os::unix::fs::MetadataExt as _};

use lab_protocol::{BuildAspect, BuildDifference};

use super::preload::mapped;

/// Programs that run somebody's script. Their own size and libraries say nothing about it.
const INTERPRETERS: [&str; 14] = [
    "beam", "bun", "dash", "bash", "deno", "dotnet", "java", "node", "perl", "php", "pypy",
    "python", "ruby", "sh",
];
/// The start of an allocator's library, its name, and what its code has in it, also if the symbols are stripped.
const ALLOCATORS: [(&str, &str, [&str; 2]); 3] = [
    ("libjemalloc", "jemalloc", ["<jemalloc>: ", "abort_conf:"]),
    ("libmimalloc", "mimalloc", ["mimalloc: warning: ", "mimalloc_"]),
    ("libtcmalloc", "tcmalloc", ["tcmalloc: ", "TCMALLOC_"]),
];
/// In every program of Go, which brings its own allocator.
const OF_GO: &str = "\u{20}Go buildinf:";
/// The largest program that is searched for an allocator.
const LARGEST: u64 = 256 << 20;

/// The program of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedProgram {
    /// The file: its device and its number.
    file: [u64; 2],
    bytes: u64,
    is_interpreter: bool,
    /// The names of the files of all libraries but its allocator's.
    libraries: BTreeSet<String>,
    /// `None` if nobody knows.
    allocator: Option<String>,
}

impl LoadedProgram {
    /// That of a process; `None` if it can't be seen.
    pub fn of(pid: u32) -> Option<Self> {
        let link = format!("/proc/{pid}/exe");
        let name = fs::read_link(&link).ok()?.file_name()?.to_string_lossy().into_owned();
        let about = fs::metadata(&link).ok()?;
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let files = mapped(&maps).filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()));
        let libraries: BTreeSet<_> = files.filter(|name| name.contains(".so")).collect();
        let is_of_allocator =
            |library: &String| ALLOCATORS.iter().any(|(start, ..)| library.starts_with(start));
        let program = || (about.size() <= LARGEST).then(|| fs::read(&link).ok()).flatten();
        let allocator = allocator(&libraries, || program().unwrap_or_default());
        Some(Self {
            file: [about.dev(), about.ino()],
            bytes: about.size(),
            is_interpreter: is_interpreter(&name),
            libraries: libraries.into_iter().filter(|it| !is_of_allocator(it)).collect(),
            allocator,
        })
    }

    /// Whether it runs somebody's script or byte code, and may compile it meanwhile.
    pub fn is_interpreter(&self) -> bool {
        self.is_interpreter
    }

    /// What the other program has instead.
    pub fn differences(&self, other: &Self) -> Vec<BuildDifference> {
        let runs_script = self.is_interpreter || other.is_interpreter;
        if runs_script && self.file != other.file {
            return Vec::new();
        }
        let mut all = Vec::new();
        if let [Some(from), Some(to)] = [self, other].map(|it| it.allocator.as_ref()) {
            let values = [Some(from), Some(to)];
            all.extend(BuildDifference::of_values(BuildAspect::Allocator, "allocator", values));
        }
        if runs_script {
            return all;
        }
        let [from, to] = [self, other].map(|it| it.bytes.to_string());
        all.extend(BuildDifference::of_values(
            BuildAspect::Size,
            "bytes",
            [Some(&from), Some(&to)],
        ));
        for library in self.libraries.symmetric_difference(&other.libraries) {
            let has = |it: &Self| it.libraries.contains(library).then_some(library);
            let values = [has(self), has(other)];
            all.extend(BuildDifference::of_values(BuildAspect::Library, library, values));
        }
        all
    }
}

fn is_interpreter(program: &str) -> bool {
    // A version may follow: `python3.11`.
    let name = program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    INTERPRETERS.contains(&name) || name.starts_with("beam.")
}

/// The allocator of a process with these libraries. `program` reads its file, where a static one may be.
fn allocator(libraries: &BTreeSet<String>, program: impl FnOnce() -> Vec<u8>) -> Option<String> {
    let is_loaded = |start: &str| libraries.iter().any(|library| library.starts_with(start));
    if let Some((_, name, _)) = ALLOCATORS.iter().find(|(start, ..)| is_loaded(start)) {
        return Some((*name).to_owned());
    }
    let program = program();
    let has = |text: &str| memchr::memmem::find(&program, text.as_bytes()).is_some();
    if has(OF_GO) || program.is_empty() {
        return None;
    }
    if let Some((_, name, _)) =
        ALLOCATORS.iter().find(|(.., marks)| marks.iter().all(|mark| has(mark)))
    {
        return Some((*name).to_owned());
    }
    let of_system = [("libc.so.", "glibc"), ("ld-musl", "musl")];
    let of_system = of_system.into_iter().find(|(start, _)| is_loaded(start));
    of_system.map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(file: u64, bytes: u64, allocator: &str, libraries: &[&str]) -> LoadedProgram {
        LoadedProgram {
            file: [1, file],
            bytes,
            is_interpreter: false,
            libraries: libraries.iter().map(|name| (*name).to_owned()).collect(),
            allocator: Some(allocator.to_owned()).filter(|name| !name.is_empty()),
        }
    }

    fn apart(one: &LoadedProgram, other: &LoadedProgram) -> Vec<String> {
        let shown =
            |it: BuildDifference| format!("{} {}>{}", it.name, it.from.concat(), it.to.concat());
        one.differences(other).into_iter().map(shown).collect()
    }

    #[test]
    fn size_libraries_and_allocator_differ() {
        let one = program(1, 10, "glibc", &["libc.so.6", "libssl.so.3"]);
        let other = program(2, 20, "mimalloc", &["libc.so.6", "libz.so.1"]);
        let expected = [
            "allocator glibc>mimalloc",
            "bytes 10>20",
            "libssl.so.3 libssl.so.3>",
            "libz.so.1 >libz.so.1",
        ];
        assert_eq!(apart(&one, &other), expected);
        assert_eq!(apart(&one, &one), [""; 0]);
        let unknown = program(1, 10, "", &["libc.so.6", "libssl.so.3"]);
        assert_eq!(apart(&one, &unknown), [""; 0]);
    }

    #[test]
    fn nothing_is_said_of_scripts_but_what_their_own_interpreter_preloads() {
        let of = |file, bytes, allocator: &str| LoadedProgram {
            is_interpreter: true,
            ..program(file, bytes, allocator, &[if bytes > 10 { "a.so" } else { "b.so" }])
        };
        assert_eq!(apart(&of(1, 10, "glibc"), &of(2, 20, "jemalloc")), [""; 0]);
        assert_eq!(apart(&of(1, 10, "glibc"), &program(2, 20, "jemalloc", &[])), [""; 0]);
        assert_eq!(
            apart(&of(1, 10, "glibc"), &of(1, 20, "jemalloc")),
            ["allocator glibc>jemalloc"]
        );
        assert!(
            ["python3.11", "node", "ruby3.1", "sh", "beam.smp"].into_iter().all(is_interpreter)
        );
        assert!(!["node-exporter", "api", "nginx", "shop"].into_iter().any(is_interpreter));
    }

    #[test]
    fn an_allocator_is_a_library_or_part_of_the_program() {
        let of = |libraries: &[&str], program: &str| {
            let libraries = libraries.iter().map(|name| (*name).to_owned()).collect();
            allocator(&libraries, || program.as_bytes().to_vec()).unwrap_or_default()
        };
        let libc = "libc.so.6";
        assert_eq!(of(&[libc, "libmimalloc.so.2.0"], ""), "mimalloc");
        assert_eq!(of(&[libc], "x <jemalloc>: %s abort_conf:true"), "jemalloc");
        assert_eq!(of(&[libc], "a page about jemalloc"), "glibc");
        assert_eq!(of(&["ld-musl-x86_64.so.1"], "x"), "musl");
        assert_eq!(of(&[libc], &format!("\u{ff}{OF_GO}")), "");
        assert_eq!(of(&[], "a static program"), "");
    }
}
