//! Connections that acknowledge every segment at once, as an experiment.
//!
//! A server without TCP_NODELAY holds a small second write back until the first one is acknowledged,
//! and a client may delay that by 40 ms. If these delays vanish with a client that never delays,
//! nothing else caused them.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::Dial;

#[derive(Clone, Copy, Debug)]
pub struct QuickAck(pub SocketAddr);

#[derive(Debug)]
pub struct Stream(TcpStream);

impl Dial for QuickAck {
    type Stream = Stream;

    async fn dial(&self) -> io::Result<Stream> {
        let stream = TcpStream::connect(self.0).await?;
        stream.set_nodelay(true)?;
        Ok(Stream(stream))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(context, buffer);
        // The system forgets it after a while, so it is set again before each wait for an answer.
        #[cfg(target_os = "linux")]
        self.0.set_quickack(true)?;
        read
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
