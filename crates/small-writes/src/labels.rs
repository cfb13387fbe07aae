//! The files of the labels, whose text depends on nothing but their number.

use std::{fmt::Write as _, fs, io, path::PathBuf, sync::Arc};

use anyhow::Context as _;
use tempfile::{NamedTempFile, TempDir};
use tokio::fs::File;

/// How many labels there are, with the numbers from 1.
pub const LABELS: u32 = 500;

/// The case's own flags.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// A directory for the labels, which gets those that it lacks. Without this flag, the server has a temporary one
    #[arg(long, value_name = "DIRECTORY")]
    pub labels: Option<PathBuf>,
}

/// A directory with a file for each label. A temporary one goes with the last clone.
#[derive(Clone, Debug)]
pub struct Labels {
    directory: PathBuf,
    _temporary: Option<Arc<TempDir>>,
}

impl Options {
    /// Makes the files of the labels, unless they are there.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made or written to.
    pub fn open(self) -> anyhow::Result<Labels> {
        let temporary = match &self.labels {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("small-writes-").tempdir()?),
        };
        let temporary = temporary.map(Arc::new);
        let directory = self.labels.or_else(|| Some(temporary.as_ref()?.path().to_owned()));
        let labels = Labels { directory: directory.unwrap_or_default(), _temporary: temporary };
        labels.fill().with_context(|| format!("cannot write to {}", labels.directory.display()))?;
        Ok(labels)
    }
}

impl Labels {
    /// The file of a label, and its length.
    pub(crate) async fn file(&self, number: u32) -> io::Result<(File, u64)> {
        let file = File::open(self.path(number)).await?;
        let length = file.metadata().await?.len();
        Ok((file, length))
    }

    /// Replaces a label in one step, so that nobody reads half of it.
    pub(crate) async fn replace(&self, number: u32, text: String) -> io::Result<()> {
        let (path, directory) = (self.path(number), self.directory.clone());
        let write = move || {
            fs::metadata(&path)?;
            let new = NamedTempFile::new_in(directory)?;
            fs::write(new.path(), text)?;
            new.persist(&path)?;
            Ok(())
        };
        tokio::task::spawn_blocking(write).await?
    }

    fn path(&self, number: u32) -> PathBuf {
        self.directory.join(format!("{number}.txt"))
    }

    fn fill(&self) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        for number in 1..=LABELS {
            let path = self.path(number);
            if !path.exists() {
                fs::write(path, text(number))?;
            }
        }
        Ok(())
    }
}

/// A label as its printer takes it: two lines, and a code of 24 rows. Together 1.2 kB.
fn text(number: u32) -> String {
    let mut label = format!("Parcel {number}\nShelf {}\n", mixed(number) % 1000);
    for row in 0..24 {
        let bars = mixed(number.wrapping_mul(31) + row);
        let bars: String =
            (0..48).map(|bar| if bars >> (bar % 32) & 1 == 1 { '#' } else { ' ' }).collect();
        let _ = writeln!(label, "{bars}");
    }
    label
}

/// A number that looks random (the finalizer of MurmurHash3), the same on every machine.
fn mixed(number: u32) -> u32 {
    let mut number = number.wrapping_mul(0x9E37_79B9);
    number = (number ^ number >> 16).wrapping_mul(0x85EB_CA6B);
    number = (number ^ number >> 13).wrapping_mul(0xC2B2_AE35);
    number ^ number >> 16
}
