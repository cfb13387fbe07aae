//! The labels on the disk of the warehouse, whose text depends on nothing but their number.

use std::{
    convert::Infallible,
    fmt::Write as _,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures_util::{Stream, stream};

/// How many labels there are, with the numbers from 1.
pub const LABELS: u32 = 500;

/// The case's own flags.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Options {
    /// Milliseconds that the disk takes to read a label, which a sleep simulates
    #[arg(long, value_name = "MS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub disk_ms: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { disk_ms: 1 }
    }
}

/// All labels, by their numbers.
#[derive(Clone, Debug)]
pub struct Labels {
    texts: Arc<RwLock<Vec<Arc<str>>>>,
    wait: Duration,
}

/// One label, which is still on the disk.
#[derive(Debug)]
pub struct Label {
    text: Arc<str>,
    wait: Duration,
}

impl Labels {
    /// The labels of a new warehouse.
    pub fn first(options: Options) -> Self {
        let texts = (1..=LABELS).map(|number| text(number).into()).collect();
        Self { texts: Arc::new(RwLock::new(texts)), wait: Duration::from_millis(options.disk_ms) }
    }

    /// The label with this number. The index of the disk is in memory, so this doesn't wait.
    pub fn find(&self, number: usize) -> Option<Label> {
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        let text = texts.get(number.checked_sub(1)?)?.clone();
        Some(Label { text, wait: self.wait })
    }

    /// Replaces a label. Returns whether there was one.
    pub(crate) fn replace(&self, number: usize, text: String) -> bool {
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        let label = number.checked_sub(1).and_then(|index| texts.get_mut(index));
        label.map(|label| *label = text.into()).is_some()
    }
}

impl Label {
    /// How many bytes it has, as the index says.
    pub fn length(&self) -> usize {
        self.text.len()
    }

    /// Reads the text from the disk. `just flame` shows that as a span of its request.
    pub fn read(self) -> impl Stream<Item = Result<String, Infallible>> {
        let reading = case_probe::span("disk");
        stream::once(async move {
            tokio::time::sleep(self.wait).await;
            drop(reading);
            Ok(self.text.to_string())
        })
    }
}

/// A label as its printer takes it: two lines, and a code of 24 rows. Together 1.2 kB.
fn text(number: u32) -> String {
    let mut label = format!("Parcel {number}\nShelf {}\n", mixed(number) % 1000);
    for row in 0..24 {
        let bars = mixed(number.wrapping_mul(31) + row);
        let bar = |bar: u32| if bars >> (bar % 32) & 1 == 1 { '#' } else { ' ' };
        let _ = writeln!(label, "{}", (0..48).map(bar).collect::<String>());
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
