//! Finds the line of the program's own source in which a function spends its time, after the compiler inlined code.

use std::collections::BTreeMap;

/// Sources that are not the program's own: those of the standard library, of crates, and of the system.
const FOREIGN: [&str; 4] = ["/rustc/", "/registry/src/", "/git/checkouts/", "/usr/"];

/// The lines of one function, as `perf script --inline --max-stack 1` prints them: for each sample the function,
/// then what was inlined there, each with its position on a line of its own.
#[derive(Debug)]
pub struct Lines<'a> {
    function: &'a str,
    /// Whether the sample that is being read has no line yet.
    is_open: bool,
    samples: BTreeMap<String, u64>,
}

impl<'a> Lines<'a> {
    pub fn of(function: &'a str) -> Self {
        Self { function, is_open: false, samples: BTreeMap::new() }
    }

    pub fn read(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() {
            self.is_open = false;
        } else if line.starts_with('\t') {
            let name = text.split_once(' ').map_or("", |(_, name)| name);
            self.is_open |= name == self.function;
        } else if self.is_open {
            let position = text.trim_end_matches(" (inlined)");
            if let Some(position) = own(position) {
                *self.samples.entry(position).or_default() += 1;
                self.is_open = false;
            }
        }
    }

    /// `src/main.rs:64`.
    pub fn busiest(self) -> Option<String> {
        self.samples.into_iter().max_by_key(|(_, samples)| *samples).map(|(line, _)| line)
    }
}

/// The last directory, the file and the line, if this is the program's own source.
fn own(position: &str) -> Option<String> {
    let (file, line) = position.rsplit_once(':')?;
    let is_known = line.parse::<u32>().is_ok_and(|line| line > 0);
    let is_own = !FOREIGN.iter().any(|part| file.contains(part));
    let start = file.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    (is_known && is_own).then(|| position[start..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `perf script` 6.1, with shorter names.
    const SCRIPT: &str = "
\t          10f063 <F as axum::handler::Handler<M,S>>::call::{{closure}}
  /rustc/5980/library/core/src/iter/adapters/filter.rs:138
\t          10f063 {closure#0}<u64>
  /rustc/5980/library/core/src/iter/adapters/map.rs:88 (inlined)
\t          10f063 {async_fn#0}
  /srv/shop/src/main.rs:64 (inlined)
\t          10f063 {async_block#0}
  /srv/shop/src/main.rs:70 (inlined)

\t          10f04c <F as axum::handler::Handler<M,S>>::call::{{closure}}
  /srv/shop/src/main.rs:64

\t          10f04d <F as axum::handler::Handler<M,S>>::call::{{closure}}
  /srv/shop/src/main.rs:65

\t          20a110 malloc
  /srv/shop/src/main.rs:9

\tffffffff814035fb rcu_do_batch
  rcu_do_batch+0x1b

";

    #[test]
    fn the_busiest_line_of_the_programs_own_source_is_found() {
        let busiest = |function| {
            let mut lines = Lines::of(function);
            SCRIPT.lines().for_each(|line| lines.read(line));
            lines.busiest()
        };
        let call = "<F as axum::handler::Handler<M,S>>::call::{{closure}}";
        assert_eq!(busiest(call).unwrap(), "src/main.rs:64");
        assert_eq!(busiest("rcu_do_batch"), None);
    }
}
