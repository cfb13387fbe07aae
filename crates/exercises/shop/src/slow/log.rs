//! A line for each request: when, what, the status and how long it took.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context as _;
use axum::http::{Method, StatusCode};
use jiff::Timestamp;

pub struct Log(Mutex<File>);

impl Log {
    /// Continues the log of this name.
    pub fn open(file: &Path) -> anyhow::Result<Self> {
        let opened = File::options().create(true).append(true).open(file);
        Ok(Self(Mutex::new(opened.with_context(|| format!("cannot write {}", file.display()))?)))
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
        let _ = file.write_fmt(line).and_then(|()| file.flush());
    }
}
