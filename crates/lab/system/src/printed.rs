//! Whether printing to standard output has failed.

use std::{
    io::{self, ErrorKind, Write as _},
    sync::OnceLock,
};

/// Why something was not printed, the first time.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Keeps the error of a write to standard output. A reader that has gone, as after `| head`, has what it
/// wanted.
pub fn printed(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error);
    }
}

/// Fails if something that was printed went nowhere, as on a full disk.
///
/// # Errors
///
/// The first one of a write.
pub fn all_printed() -> Result<(), &'static io::Error> {
    printed(io::stdout().flush());
    LOST.get().map_or(Ok(()), Err)
}
