//! What `heaptrack` recorded: from its lines to the bytes that each stack holds more at the end of a window.

use std::time::Duration;

use anyhow::Context as _;
use lab_observation::Folded;

/// The allocations of one size from one stack.
#[derive(Debug, Default)]
struct Allocations {
    size: u64,
    trace: usize,
    /// How many are in use, and how many were at the begin of the window.
    live: i64,
    before: i64,
}

/// Reads the lines one after the other. Numbers are hexadecimal, and refer to earlier lines by their place, from 1
/// on: strings, frames, and traces, which are a frame and the trace that called it.
///
/// The form is that of `heaptrack` 1.2 and later, whose first line says `v 10200 3` or more.
#[derive(Debug)]
pub struct HeapTrace {
    /// From the first allocation on.
    window: [Duration; 2],
    now: Duration,
    strings: Vec<String>,
    /// Of each the functions, the innermost first: more than one if the compiler inlined some.
    frames: Vec<Vec<String>>,
    traces: Vec<[usize; 2]>,
    allocations: Vec<Allocations>,
    has_begun: bool,
}

impl HeapTrace {
    pub fn new(window: [Duration; 2]) -> Self {
        Self {
            window,
            now: Duration::ZERO,
            strings: Vec::new(),
            frames: Vec::new(),
            traces: Vec::new(),
            allocations: Vec::new(),
            has_begun: false,
        }
    }

    /// # Errors
    ///
    /// If the line has another form.
    pub fn read(&mut self, line: &str) -> anyhow::Result<()> {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        self.read_as(kind, rest).with_context(|| format!("`heaptrack` wrote `{line}`"))
    }

    fn read_as(&mut self, kind: &str, rest: &str) -> anyhow::Result<()> {
        match kind {
            "s" => self.strings.push(rest.split_once(' ').unwrap_or_default().1.to_owned()),
            "i" => {
                let frame = self.functions(&numbers(rest)?);
                self.frames.push(frame);
            }
            "t" => {
                let [frame, caller] = two(rest)?;
                self.traces.push([usize::try_from(frame)?, usize::try_from(caller)?]);
            }
            "a" => {
                let [size, trace] = two(rest)?;
                let trace = usize::try_from(trace)?;
                self.allocations.push(Allocations { size, trace, ..Allocations::default() });
            }
            "+" | "-" if self.now <= self.window[1] => {
                let [at] = numbers(rest)?[..] else { anyhow::bail!("not one number") };
                let known = self.allocations.get_mut(usize::try_from(at)?);
                known.context("no such allocation")?.live += if kind == "+" { 1 } else { -1 };
            }
            "c" => {
                let [ms] = numbers(rest)?[..] else { anyhow::bail!("not one number") };
                self.now = Duration::from_millis(ms);
                if !self.has_begun && self.now >= self.window[0] {
                    self.has_begun = true;
                    self.allocations.iter_mut().for_each(|it| it.before = it.live);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The functions of an instruction: its address and module, then a name, a file and a line for each function.
    fn functions(&self, numbers: &[u64]) -> Vec<String> {
        let string = |at: u64| {
            let at = usize::try_from(at).ok()?.checked_sub(1)?;
            self.strings.get(at).cloned()
        };
        let module = numbers.get(1).and_then(|at| string(*at)).unwrap_or_default();
        let module = module.rsplit('/').next().unwrap_or_default();
        let functions = numbers.get(2..).unwrap_or_default().chunks(3);
        let named: Vec<_> =
            functions.filter_map(|chunk| Some(symbol(&string(chunk[0])?))).collect();
        if named.is_empty() { vec![format!("[{module}]")] } else { named }
    }

    /// The bytes that each stack holds more at the end of the window than at its begin.
    pub fn kept(&self) -> Folded {
        let mut bytes = vec![0_i128; self.traces.len() + 1];
        for Allocations { size, trace, live, before } in &self.allocations {
            if let Some(bytes) = bytes.get_mut(*trace) {
                *bytes += i128::from(live - before) * i128::from(*size);
            }
        }
        let mut kept = Folded::default();
        for (trace, bytes) in bytes.into_iter().enumerate() {
            if let Some(bytes) = u64::try_from(bytes).ok().filter(|bytes| *bytes > 0) {
                kept.add(self.stack(trace), bytes);
            }
        }
        kept
    }

    /// The outermost function first.
    fn stack(&self, mut trace: usize) -> Vec<String> {
        let mut stack = Vec::new();
        while let Some([frame, caller]) = trace.checked_sub(1).and_then(|at| self.traces.get(at)) {
            let functions = frame.checked_sub(1).and_then(|at| self.frames.get(at));
            stack.extend(functions.into_iter().flatten().cloned());
            // A caller has been written before.
            trace = (*caller).min(trace - 1);
        }
        stack.reverse();
        stack
    }
}

/// A symbol as the compiler wrote it. `heaptrack` takes older Rust symbols for those of C++, and shortens
/// `_ZN4shop4main17h0123456789abcdefE`.
fn symbol(name: &str) -> String {
    let is_hash =
        |hash: &str| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !name.rsplit_once("::h").is_some_and(|(_, hash)| is_hash(hash)) {
        return name.to_owned();
    }
    let parts: String = name.split("::").map(|part| format!("{}{part}", part.len())).collect();
    format!("_ZN{parts}E")
}

fn numbers(text: &str) -> anyhow::Result<Vec<u64>> {
    text.split(' ').map(|number| Ok(u64::from_str_radix(number, 16)?)).collect()
}

fn two(text: &str) -> anyhow::Result<[u64; 2]> {
    let two: Result<[u64; 2], _> = numbers(text)?.try_into();
    two.ok().context("not two numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = "v 10400 3\nX ./shop\ns 6 ./shop\ns 4 main\ns 8 remember\ns 5 serve\ns 6 libc.so\n\
        i 10 1 2 0 0\nt 1 0\ni 20 1 3 0 7 4 0 9\nt 2 1\ni 30 5\nt 3 1\na 10 2\na 64 3\n\
        + 0\n+ 1\nc a\n+ 0\n+ 0\n+ 1\n- 1\n- 1\nc 14\n+ 0\nc 3e8\n- 0\n- 0\n";

    fn kept(window: [u64; 2], text: &str) -> anyhow::Result<Folded> {
        let mut trace = HeapTrace::new(window.map(Duration::from_millis));
        text.lines().try_for_each(|line| trace.read(line))?;
        Ok(trace.kept())
    }

    #[test]
    fn a_stack_keeps_what_it_allocated_in_the_window_and_did_not_free() {
        // An inlined function is called by the one that it became a part of.
        let kept = |window| kept(window, RECORDED).unwrap().to_string();
        assert_eq!(kept([10, 900]), "main;serve;remember 48\n");
        assert_eq!(kept([15, 900]), "main;serve;remember 16\n");
        assert_eq!(kept([900, 2000]), "");
    }

    #[test]
    fn a_rust_symbol_is_what_the_compiler_wrote() {
        let shortened = "shop::Cart$LT$T$GT$::add::h0123456789abcdef";
        assert_eq!(symbol(shortened), "_ZN4shop13Cart$LT$T$GT$3add17h0123456789abcdefE");
        for other in ["malloc", "std::vector<int>::push_back(int)", "a::hello"] {
            assert_eq!(symbol(other), other);
        }
    }

    #[test]
    fn a_line_of_another_form_is_an_error_that_shows_it() {
        let error = kept([0, 1], "a 10\n").unwrap_err();
        assert_eq!(format!("{error:#}"), "`heaptrack` wrote `a 10`: not two numbers");
        assert!(kept([0, 1], "+ 7\n").is_err() && kept([0, 1], "+ x\n").is_err());
        // Traces that name each other, or nothing, end.
        assert_eq!(kept([0, 9], "t 9 1\na 8 1\nc 0\n+ 0\n").unwrap().to_string(), " 8\n");
    }
}
