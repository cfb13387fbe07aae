//! The stacks that hold a server's memory, by `heaptrack`: a library that it preloads writes down each call of `malloc`
//! and `free`, so the server need not be changed.

mod trace;

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use lab_observation::Folded;
use lab_system::{Program, System};

use super::{Obstacle, program};
use trace::HeapTrace;

const INSTALL: &str = "apt install heaptrack";
/// Where its parts are, from the directory of the program.
const PARTS: [&str; 3] = ["lib/heaptrack", "lib64/heaptrack", "libexec/heaptrack"];
const LIBRARY: &str = "libheaptrack_preload.so";
/// How long its interpreter may take from one line to the next.
const LIMIT: Duration = Duration::from_secs(60);

/// An installed `heaptrack`.
#[derive(Clone, Debug)]
pub struct Heaptrack {
    library: PathBuf,
    interpreter: PathBuf,
}

impl Heaptrack {
    /// # Errors
    ///
    /// If it is not installed.
    pub fn look(system: &System) -> Result<Self, Obstacle> {
        let missing = || Obstacle::new("`heaptrack` is missing").fix(INSTALL);
        let program = system.program("heaptrack").ok_or_else(missing)?;
        let program = program.canonicalize().unwrap_or(program);
        let root = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let part = |names: &[&str]| {
            let mut files = PARTS
                .iter()
                .flat_map(|dir| names.iter().map(move |name| root.join(dir).join(name)));
            files.find(|file| file.is_file())
        };
        let library = part(&[LIBRARY]);
        let interpreter = part(&["libexec/heaptrack_interpret", "heaptrack_interpret"]);
        let parts = library.zip(interpreter);
        let (library, interpreter) = parts.ok_or_else(|| {
            Obstacle::new(format!("the parts of {} are missing", program.display())).fix(INSTALL)
        })?;
        Ok(Self { library, interpreter })
    }

    /// The words in front of a server's command that have it write into this file. `preloaded` is what the command
    /// preloads itself. The variables are for the server only: `heaptrack` takes them from the environment of a
    /// program's children, so a program in between would be recorded in its place.
    pub fn prefix(&self, file: &Path, preloaded: Option<&str>) -> Vec<String> {
        let others = preloaded.map_or(String::new(), |others| format!(":{others}"));
        vec![
            "env".to_owned(),
            format!("LD_PRELOAD={}{others}", self.library.display()),
            format!("DUMP_HEAPTRACK_OUTPUT={}", file.display()),
        ]
    }

    /// Whether a process has its library.
    pub fn is_in(pid: u32) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"));
        maps.is_ok_and(|maps| maps.contains(LIBRARY))
    }

    /// The bytes that each stack holds more at the end of the window, which counts from the start of the server.
    ///
    /// # Errors
    ///
    /// If the file can't be read.
    pub async fn kept(&self, file: &Path, window: [Duration; 2]) -> anyhow::Result<Folded> {
        let recorded = File::open(file).with_context(|| format!("no {}", file.display()))?;
        let interpret = Program::new(program::command(&self.interpreter), LIMIT);
        let mut trace = HeapTrace::new(window);
        let interpret = interpret.named("`heaptrack_interpret`").reading(recorded);
        interpret.lines(|line| trace.read(line)).await?;
        Ok(trace.kept())
    }
}
