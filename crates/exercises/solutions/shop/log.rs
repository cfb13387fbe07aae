//! A line for each request: when, what, the status and how long it took.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use anyhow::Context as _;
use axum::http::{Method, StatusCode};
use jiff::Timestamp;

pub struct Log(Arc<Mutex<BufWriter<File>>>);

/// How much a crash may lose.
const FLUSHED_EVERY: Duration = Duration::from_millis(200);

impl Log {
    /// Continues the log of this name.
    pub fn open(file: &Path) -> anyhow::Result<Self> {
        let opened = File::options().create(true).append(true).open(file);
        let opened = opened.with_context(|| format!("cannot write {}", file.display()))?;
        let writer = Arc::new(Mutex::new(BufWriter::new(opened)));
        let flushed = Arc::downgrade(&writer);
        thread::spawn(move || {
            while let Some(writer) = flushed.upgrade() {
                let _ = writer.lock().unwrap_or_else(PoisonError::into_inner).flush();
                drop(writer);
                thread::sleep(FLUSHED_EVERY);
            }
        });
        Ok(Self(writer))
    }

    pub fn request(&self, method: &Method, path: &str, status: StatusCode, took: Duration) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format_args!(
            "{} {method} {path} {} {:.1}ms\n",
            Timestamp::now(),
            status.as_u16(),
            1e3 * took.as_secs_f64()
        );
        // A full disk is no reason to stop selling.
        let _ = file.write_fmt(line);
    }
}
