//! Reads a server's output: its last lines for error messages, and its announcements.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Context as _;
use http::Uri;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::Notify,
    task::JoinHandle,
    time::timeout,
};

use lab_system::{plain, without_secrets};

use super::{announcement, panic};

/// The announcement of a server that counts its allocations. Each allocation updates counters that all
/// threads share, so such a server must not be timed.
const COUNTING: &str = "counting allocations";
/// The announcement of a server that is built for profiling. It does more work than the server that users run.
const PROFILING: &str = "profiling";
/// How many lines are kept that say that something was missing.
const MOST_COMPLAINTS: usize = 3;
/// How the loader begins a line, and what others say about a file or a library that they miss.
const OF_THE_LOADER: &str = "ERROR: ld.so";
const MISSING: [&str; 6] =
    ["no such file", "cannot open", "could not open", "failed to load", "falling back", "fallback"];
/// How much of its output is kept for its last lines, at least. No announcement is longer.
const LAST_BYTES: usize = 8 << 10;
/// How long the rest of its output may take to read once it has exited.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The output of a process, read until its end: a full pipe would block it, and a closed one would
/// kill it.
#[derive(Debug, Default)]
pub struct ServerOutput {
    shared: Arc<Shared>,
    readers: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    printed: Mutex<Printed>,
    /// Notified of each line, until the server is found.
    line: Notify,
}

#[derive(Debug, Default)]
struct Printed {
    /// The last bytes, which need not be text.
    tail: Vec<u8>,
    /// Nobody reads announcements after the server is found.
    is_found: bool,
    /// The URL after `listening on`, which the workspace's own servers print.
    url: Option<String>,
    ports: BTreeSet<u16>,
    busy_with: Option<&'static str>,
    /// Lines that say that something was missing.
    complaints: BTreeSet<String>,
}

impl ServerOutput {
    /// Starts to read this stream, too.
    pub fn follow(&mut self, mut stream: impl AsyncRead + Send + Unpin + 'static) {
        let shared = self.shared.clone();
        self.readers.push(tokio::spawn(async move {
            let (mut piece, mut line) = ([0; 4096], Vec::new());
            while let Ok(read @ 1..) = stream.read(&mut piece).await {
                shared.printed().take(&piece[..read], &mut line);
                shared.line.notify_one();
            }
        }));
    }

    /// Waits for the line `listening on URL`.
    pub async fn url(&self) -> anyhow::Result<Uri> {
        loop {
            if let Some(url) = self.shared.printed().url.take() {
                return url.parse().with_context(|| format!("`{}` is no URL", url.escape_debug()));
            }
            self.shared.line.notified().await;
        }
    }

    /// The ports that it has named so far.
    pub fn ports(&self) -> BTreeSet<u16> {
        self.shared.printed().ports.clone()
    }

    /// Announcements do not matter any more. Returns what the server announced to be doing besides
    /// serving.
    pub fn found(&self) -> Option<&'static str> {
        let mut printed = self.shared.printed();
        printed.is_found = true;
        printed.busy_with
    }

    /// Lines that the server printed at its start about something that it lacks.
    pub fn complaints(&self) -> Vec<String> {
        self.shared.printed().complaints.iter().cloned().collect()
    }

    /// The last panic that it printed, if there was one.
    pub fn panic(&self) -> Option<String> {
        panic::last(&String::from_utf8_lossy(&self.shared.printed().tail))
    }

    /// Shares the output with another reader.
    pub fn shared(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), readers: Vec::new() }
    }

    /// The last lines, as the end of an error message.
    ///
    /// The last of them may still be in the pipe, so this reads on for a moment. A process that the
    /// server started may keep the pipe open.
    pub async fn last_lines(&mut self) -> String {
        for reader in self.readers.iter_mut().filter(|reader| !reader.is_finished()) {
            let _ = timeout(LAST_WORDS, reader).await;
        }
        let last = lab_system::last_lines(&self.shared.printed().tail);
        last.unwrap_or_else(|| "; it printed nothing".to_owned())
    }
}

impl Shared {
    fn printed(&self) -> MutexGuard<'_, Printed> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Printed {
    /// Takes a piece of a stream; `line` is what its last line has so far.
    fn take(&mut self, piece: &[u8], line: &mut Vec<u8>) {
        self.tail.extend_from_slice(piece);
        if self.tail.len() > 2 * LAST_BYTES {
            let surplus = self.tail.len() - LAST_BYTES;
            self.tail.drain(..surplus);
        }
        if self.is_found {
            return;
        }
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if line.ends_with(b"\n") || line.len() > LAST_BYTES {
                self.read_line(String::from_utf8_lossy(line).trim_end());
                line.clear();
            }
        }
    }

    fn read_line(&mut self, line: &str) {
        let busy_with = [COUNTING, PROFILING].into_iter().find(|what| line == *what);
        self.busy_with = busy_with.or(self.busy_with);
        if let Some(url) = line.strip_prefix("listening on ") {
            self.url = Some(url.trim().to_owned());
        }
        self.ports.extend(announcement::ports(line));
        if self.complaints.len() < MOST_COMPLAINTS && is_complaint(line) {
            self.complaints.insert(plain(&without_secrets(line.trim())));
        }
    }
}

fn is_complaint(line: &str) -> bool {
    let line_in_small = line.to_lowercase();
    line.contains(OF_THE_LOADER) || MISSING.iter().any(|message| line_in_small.contains(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_misses_at_its_start_is_kept_once() {
        let mut printed = Printed::default();
        let loader = "ERROR: ld.so: object 'libx.so' from LD_PRELOAD cannot be preloaded: ignored.";
        let lines = [
            loader,
            loader,
            "INFO listening on port 80",
            "config.toml: No such file or directory, using the built-in settings",
            "WARN no io_uring here, falling back to epoll",
            "GET / 404 not found",
        ];
        let mut line = Vec::new();
        for text in lines {
            printed.take(format!("{text}\r\n").as_bytes(), &mut line);
        }
        let kept: Vec<_> = printed.complaints.iter().map(String::as_str).collect();
        assert_eq!(kept, [loader, lines[4], lines[3]]);
        printed.is_found = true;
        printed.take(b"cannot open x\n", &mut line);
        assert_eq!(printed.complaints.len(), 3);
    }
}
