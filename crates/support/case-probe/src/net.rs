//! Tokio's `TcpListener`. With the feature `count-allocations` it counts the writes to its connections.

#[cfg(feature = "count-allocations")]
pub use counted::TcpListener;
#[cfg(feature = "count-allocations")]
pub(crate) use counted::fields;
#[cfg(not(feature = "count-allocations"))]
pub use tokio::net::TcpListener;

/// The listener that counts, in a build that does.
pub fn listener(listener: tokio::net::TcpListener) -> TcpListener {
    #[cfg(feature = "count-allocations")]
    let listener = TcpListener::new(listener);
    listener
}

#[cfg(feature = "count-allocations")]
pub use counted::writes;

#[cfg(feature = "count-allocations")]
mod counted {
    use std::{
        io,
        net::SocketAddr,
        ops::Deref,
        pin::Pin,
        sync::atomic::{AtomicU64, Ordering::Relaxed},
        task::{Context, Poll},
    };

    use axum::serve::Listener;
    use tokio::{
        io::{AsyncRead, AsyncWrite, ReadBuf},
        net::TcpStream,
    };

    static WRITES: AtomicU64 = AtomicU64::new(0);
    static HELD_BACK: AtomicU64 = AtomicU64::new(0);

    /// How many writes there were so far, and how many of them TCP may hold back until the client acknowledges the one
    /// before: those that follow another with no read between them, on a connection without `TCP_NODELAY`. Of a long
    /// write, only the last segment may be held back.
    pub fn writes() -> [u64; 2] {
        [&WRITES, &HELD_BACK].map(|count| count.load(Relaxed))
    }

    /// Fields of a JSON object, after others. Empty in a server that doesn't accept its connections itself.
    pub(crate) fn fields() -> String {
        match writes() {
            [0, _] => String::new(),
            [all, held_back] => format!(",\"writes\":{all},\"writes_held_back\":{held_back}"),
        }
    }

    /// Tokio's `TcpListener`, whose connections count.
    #[derive(Debug)]
    pub struct TcpListener(tokio::net::TcpListener);

    impl TcpListener {
        pub(super) fn new(listener: tokio::net::TcpListener) -> Self {
            Self(listener)
        }
    }

    impl Listener for TcpListener {
        type Io = Connection;
        type Addr = SocketAddr;

        async fn accept(&mut self) -> (Connection, SocketAddr) {
            let (stream, address) = Listener::accept(&mut self.0).await;
            (Connection { stream, has_written: false }, address)
        }

        fn local_addr(&self) -> io::Result<SocketAddr> {
            self.0.local_addr()
        }
    }

    /// A `TcpStream` that counts its writes.
    #[derive(Debug)]
    pub struct Connection {
        stream: TcpStream,
        /// Whether the last thing that happened was a write.
        has_written: bool,
    }

    impl Connection {
        fn count(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
            if matches!(written, Poll::Ready(Ok(_))) {
                let may_wait = self.has_written && !self.stream.nodelay().unwrap_or(true);
                WRITES.fetch_add(1, Relaxed);
                HELD_BACK.fetch_add(u64::from(may_wait), Relaxed);
                self.has_written = true;
            }
            written
        }
    }

    /// For the options of the socket.
    impl Deref for Connection {
        type Target = TcpStream;

        fn deref(&self) -> &TcpStream {
            &self.stream
        }
    }

    impl AsyncRead for Connection {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let before = buffer.filled().len();
            let read = Pin::new(&mut self.stream).poll_read(context, buffer);
            self.has_written &= buffer.filled().len() == before;
            read
        }
    }

    impl AsyncWrite for Connection {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let written = Pin::new(&mut self.stream).poll_write(context, bytes);
            self.count(written)
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            slices: &[io::IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
            self.count(written)
        }

        fn is_write_vectored(&self) -> bool {
            self.stream.is_write_vectored()
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_flush(context)
        }

        fn poll_shutdown(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_shutdown(context)
        }
    }
}
