//! Whether a connection pooler such as PgBouncer is between this program and the database. A pooler answers a new client
//! itself, with a process id of its own; a server says the id of the process that also executes the statements.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_postgres::config::Host;
use tokio_postgres::{Config, NoTls};

use crate::postgres::errors::{DatabaseError, describe};
use crate::postgres::statement;

const ATTEMPT: Duration = Duration::from_secs(10);

pub(super) async fn is_pooled(config: &Config) -> Result<bool, DatabaseError> {
    let mut failure = "it has no address".to_owned();
    for address in addresses(config) {
        match timeout(ATTEMPT, ask(config, &address)).await {
            Ok(Ok(pooled)) => return Ok(pooled),
            Ok(Err(message)) => failure = message,
            Err(_) => failure = "it does not answer".to_owned(),
        }
    }
    Err(DatabaseError::Unreachable(format!("{} cannot be reached: {failure}", super::name(config))))
}

enum Address {
    Tcp(String, u16),
    Unix(std::path::PathBuf),
}

fn addresses(config: &Config) -> Vec<Address> {
    let port = |index: usize| config.get_ports().get(index).or(config.get_ports().first()).copied().unwrap_or(5432);
    if !config.get_hostaddrs().is_empty() {
        let addresses = config.get_hostaddrs().iter().enumerate();
        return addresses.map(|(index, address)| Address::Tcp(address.to_string(), port(index))).collect();
    }
    let hosts = config.get_hosts().iter().enumerate();
    let address = |(index, host): (usize, &Host)| match host {
        Host::Tcp(name) => Address::Tcp(name.clone(), port(index)),
        Host::Unix(folder) => Address::Unix(folder.join(format!(".s.PGSQL.{}", port(index)))),
    };
    hosts.map(address).collect()
}

async fn ask(config: &Config, address: &Address) -> Result<bool, String> {
    let stream: Box<dyn Stream> = match address {
        Address::Tcp(name, port) => {
            Box::new(TcpStream::connect((name.as_str(), *port)).await.map_err(|error| error.to_string())?)
        }
        Address::Unix(path) => Box::new(UnixStream::connect(path).await.map_err(|error| error.to_string())?),
    };
    let announced = Arc::<OnceLock<i32>>::default();
    let stream = KeyReader { inner: stream, pending: Vec::new(), announced: Arc::clone(&announced) };
    let (client, connection) = config.connect_raw(stream, NoTls).await.map_err(|error| describe(&error))?;
    let connection = tokio::spawn(connection);
    let executing = statement::query(&client, "SELECT pg_backend_pid()", &[]).await;
    connection.abort();
    let executing = executing.and_then(|rows| rows.first().map_or(Ok(None), |row| row.try_get::<_, Option<i32>>(0)));
    match (executing, announced.get()) {
        (Ok(Some(executing)), Some(announced)) => Ok(executing != *announced),
        // A database that has no such ids has no pooler in front of it that could be told by them.
        (Ok(_), _) => Ok(false),
        (Err(error), _) if error.code().is_some() => Ok(false),
        (Err(error), _) => Err(describe(&error)),
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl Stream for TcpStream {}
impl Stream for UnixStream {}

/// Passes everything on, and reads the process id out of the server's `BackendKeyData` message.
struct KeyReader {
    inner: Box<dyn Stream>,
    /// What was received and not looked at yet, until the id is known.
    pending: Vec<u8>,
    announced: Arc<OnceLock<i32>>,
}

impl KeyReader {
    fn look_at(&mut self, received: &[u8]) {
        if self.announced.get().is_some() {
            return;
        }
        self.pending.extend_from_slice(received);
        // Each message is its kind, its length without the kind, and its content.
        while let [kind, a, b, c, d, rest @ ..] = self.pending.as_slice() {
            let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
            if length < 4 || rest.len() < length - 4 {
                return;
            }
            if let (b'K', [a, b, c, d, ..]) = (kind, rest) {
                let _ = self.announced.set(i32::from_be_bytes([*a, *b, *c, *d]));
            }
            self.pending.drain(..=length);
        }
    }
}

impl AsyncRead for KeyReader {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = to.filled().len();
        let outcome = Pin::new(&mut self.inner).poll_read(context, to);
        self.look_at(&to.filled()[before..]);
        outcome
    }
}

impl AsyncWrite for KeyReader {
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
