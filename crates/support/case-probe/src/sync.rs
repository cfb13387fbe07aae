//! Tokio's `Mutex`. With the feature `profile` it records how long it is waited for and held.

#[cfg(feature = "profile")]
pub use recorded::{Mutex, MutexGuard};
#[cfg(not(feature = "profile"))]
pub use tokio::sync::{Mutex, MutexGuard};

#[cfg(feature = "profile")]
mod recorded {
    use std::ops::{Deref, DerefMut};

    use crate::{Span, span};

    /// Tokio's `Mutex`, with the spans `lock wait` and `lock held`.
    #[derive(Debug, Default)]
    pub struct Mutex<T>(tokio::sync::Mutex<T>);

    /// Unlocks the [`Mutex`] when it is dropped.
    #[derive(Debug)]
    pub struct MutexGuard<'a, T> {
        // Fields are dropped in order: the span ends before the lock is free.
        _held: Span,
        guard: tokio::sync::MutexGuard<'a, T>,
    }

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Self(tokio::sync::Mutex::new(value))
        }

        /// Waits for the lock and takes it.
        pub async fn lock(&self) -> MutexGuard<'_, T> {
            let wait = span("lock wait");
            let guard = self.0.lock().await;
            drop(wait);
            MutexGuard { _held: span("lock held"), guard }
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }
}
