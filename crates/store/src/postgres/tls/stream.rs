//! TLS below the driver. The crate `tokio-postgres-rustls` does the same; it would bring a second X.509 parser into the tree,
//! refuses hosts that are no names of the DNS, and has no channel binding for certificates signed with RSASSA-PSS.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use super::Handshake;
use super::certificate::Certificate;

/// Begins TLS on the connections of one attempt.
#[derive(Clone)]
pub(in crate::postgres) struct Connector {
    /// `None` where no connection is encrypted.
    config: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    handshake: Arc<Handshake>,
}

impl Connector {
    pub(super) fn new(config: Arc<ClientConfig>, name: ServerName<'static>, handshake: Arc<Handshake>) -> Self {
        Self { config: Some((config, name)), handshake }
    }

    /// For a connection without encryption.
    pub(in crate::postgres) fn unused() -> Self {
        Self { config: None, handshake: Arc::default() }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Connector {
    type Stream = TlsLayer<tokio_rustls::client::TlsStream<S>>;
    type TlsConnect = Self;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _host: &str) -> io::Result<Self> {
        Ok(self.clone())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Connector {
    type Stream = TlsLayer<tokio_rustls::client::TlsStream<S>>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Stream>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let _ = self.handshake.began.set(());
            let (config, name) =
                self.config.ok_or_else(|| io::Error::other("this connection is not to be encrypted"))?;
            let inner = TlsConnector::from(config).connect(name, stream).await?;
            let _ = self.handshake.finished.set(());
            let certificate = inner.get_ref().1.peer_certificates().and_then(|chain| chain.first());
            let channel_binding =
                certificate.and_then(|certificate| Certificate::parse(certificate)?.channel_binding(certificate));
            Ok(TlsLayer { inner, channel_binding })
        })
    }
}

#[derive(Debug)]
pub(in crate::postgres) struct TlsLayer<T> {
    inner: T,
    channel_binding: Option<Vec<u8>>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> TlsStream for TlsLayer<T> {
    fn channel_binding(&self) -> ChannelBinding {
        self.channel_binding.clone().map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for TlsLayer<T> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, to)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for TlsLayer<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// Passes bytes on as they are, for a stream that leads nowhere.
#[derive(Debug)]
pub(in crate::postgres) struct PlainStream;

impl TlsConnect<DuplexStream> for PlainStream {
    type Stream = TlsLayer<DuplexStream>;
    type Error = io::Error;
    type Future = std::future::Ready<io::Result<Self::Stream>>;

    fn connect(self, inner: DuplexStream) -> Self::Future {
        std::future::ready(Ok(TlsLayer { inner, channel_binding: None }))
    }
}
