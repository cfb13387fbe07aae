//! The audit log: a line for each line of each order that somebody looked at.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    sync::Mutex,
};

use crate::{faults::Fault, orders::Order};

/// After so many orders the log begins again, so that it stays small.
const KEPT: u64 = 500;

pub struct Audit {
    file: File,
    log: Mutex<Log>,
    is_durable: bool,
}

struct Log {
    out: Box<dyn Write + Send>,
    orders: u64,
}

impl Audit {
    pub fn new(path: &Path, faults: &[Fault]) -> io::Result<Self> {
        let file = File::options().append(true).create(true).open(path)?;
        let log = Log { out: sink(file.try_clone()?, faults), orders: 0 };
        Ok(Self { file, log: log.into(), is_durable: faults.contains(&Fault::Flush) })
    }

    pub fn record(&self, id: u32, order: &Order) -> io::Result<()> {
        let mut log = self.log.lock().map_err(|_| io::Error::other("the log is broken"))?;
        record(&mut log.out, id, order)?;
        log.orders += 1;
        if log.orders.is_multiple_of(KEPT) {
            log.out.flush()?;
            self.file.set_len(0)?;
        }
        if self.is_durable {
            log.out.flush()?;
            self.file.sync_data()?;
        }
        Ok(())
    }
}

fn sink(file: impl Write + Send + 'static, faults: &[Fault]) -> Box<dyn Write + Send> {
    if faults.contains(&Fault::Log) {
        Box::new(file)
    } else {
        Box::new(BufWriter::with_capacity(1 << 16, file))
    }
}

fn record(out: &mut impl Write, id: u32, order: &Order) -> io::Result<()> {
    for line in &order.lines {
        writeln!(out, "order {id} {} {} {}", line.code, line.quantity, line.cents)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use super::*;
    use crate::orders::Orders;

    /// Counts the calls that would be system calls.
    struct Counting(Arc<AtomicUsize>);

    impl Write for Counting {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.fetch_add(1, Relaxed);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn without_a_buffer_each_piece_of_a_line_is_a_write() {
        let orders = Orders::new(&[]);
        let order = orders.read(orders.message(1).unwrap()).unwrap();
        for (faults, writes) in [(&[][..], 0), (&[Fault::Log], 9 * order.lines.len())] {
            let calls = Arc::new(AtomicUsize::new(0));
            let mut out = sink(Counting(calls.clone()), faults);
            record(&mut out, 1, &order).unwrap();
            assert_eq!(calls.load(Relaxed), writes, "{faults:?}");
        }
    }

    #[test]
    fn the_log_begins_again_before_it_is_large() {
        let orders = Orders::new(&[]);
        let order = orders.read(orders.message(1).unwrap()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let audit = Audit::new(&dir.path().join("log"), &[]).unwrap();
        (0..KEPT).for_each(|_| audit.record(1, &order).unwrap());
        assert_eq!(audit.file.metadata().unwrap().len(), 0);
    }
}
