//! Counts pieces of work, such as the hash of a password, and how many of them were done in a poll.
//!
//! What a handler does in a poll keeps its worker thread from all other tasks. What another thread does,
//! such as one of `spawn_blocking`, doesn't.

#[cfg(feature = "count-allocations")]
pub(crate) use counted::{counts, request};

/// Counts one piece of work. Does nothing without the feature `count-allocations`.
pub fn work(name: &'static str) {
    #[cfg(not(feature = "count-allocations"))]
    let _ = name;
    #[cfg(feature = "count-allocations")]
    counted::count(name);
}

#[cfg(not(feature = "count-allocations"))]
pub(crate) fn request<F: Future>(answer: F) -> F {
    answer
}

#[cfg(feature = "count-allocations")]
mod counted {
    use std::{
        collections::BTreeMap,
        sync::{Mutex, PoisonError},
    };

    /// By the name of the work: all of it, and that in a poll.
    static COUNTS: Mutex<BTreeMap<&str, [u64; 2]>> = Mutex::new(BTreeMap::new());

    tokio::task_local! {
        /// Set on a thread exactly while it polls a request.
        static POLLED: ();
    }

    pub(crate) fn request<F: Future>(answer: F) -> impl Future<Output = F::Output> {
        POLLED.scope((), answer)
    }

    pub(super) fn count(name: &'static str) {
        let in_poll = POLLED.try_with(|()| ()).is_ok();
        let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        let [all, in_polls] = counts.entry(name).or_default();
        *all += 1;
        *in_polls += u64::from(in_poll);
    }

    /// Fields of a JSON object, after others: `,"hashes":N,"hashes_in_a_poll":N`.
    pub(crate) fn counts() -> String {
        let counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        let field = |(name, [all, in_polls]): (&&str, &[u64; 2])| {
            format!(",\"{name}\":{all},\"{name}_in_a_poll\":{in_polls}")
        };
        counts.iter().map(field).collect()
    }
}
