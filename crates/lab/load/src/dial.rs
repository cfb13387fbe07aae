//! How a connection reaches the server.

use std::{future::Future, io, net::SocketAddr};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

/// How to reach the server: over TCP, or in the tests through memory, where the clock is exact.
pub trait Dial {
    type Stream: AsyncRead + AsyncWrite + Unpin + 'static;
    /// Opens a connection.
    ///
    /// # Errors
    ///
    /// If the connection is refused or fails.
    fn dial(&self) -> impl Future<Output = io::Result<Self::Stream>>;

    /// Prepares a stream for the wait for an answer.
    ///
    /// # Errors
    ///
    /// If the system refuses the option of the socket.
    fn before_answer(&self, _: &Self::Stream) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Tcp {
    pub address: SocketAddr,
    /// Whether to acknowledge every segment at once, as an experiment. A server without TCP_NODELAY holds
    /// a small second write back until the first one is acknowledged, and a client may delay that by
    /// 40 ms. If these delays vanish with a client that never delays, nothing else caused them.
    pub quick_ack: bool,
}

impl Dial for Tcp {
    type Stream = TcpStream;

    async fn dial(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// The system forgets it after a while, so it is set again before each wait.
    #[cfg(target_os = "linux")]
    fn before_answer(&self, stream: &TcpStream) -> io::Result<()> {
        if self.quick_ack { stream.set_quickack(true) } else { Ok(()) }
    }
}
