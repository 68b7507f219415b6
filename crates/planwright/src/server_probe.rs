//! Asks whether a server answers at an address, with a minimal HTTP request.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

const TIMEOUT: Duration = Duration::from_secs(5);
/// Longer answers are cut.
const ANSWER_BYTES: u64 = 64 * 1024;

/// What was found at the address.
#[derive(Debug)]
pub(crate) enum Probe {
    /// The connection was refused.
    NotListening,
    /// Something listens and does not answer as a server does; the reason.
    NotAServer(String),
    /// `ours` if the answer asks for a token of Planwright.
    Answered { status: u16, ours: bool },
}

/// Sends a request without a token.
pub(crate) async fn probe(listen: SocketAddr, path: &str) -> Probe {
    match timeout(TIMEOUT, exchange(reachable(listen), path)).await {
        Err(_) => Probe::NotAServer(format!("it did not answer within {} seconds", TIMEOUT.as_secs())),
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Probe::NotListening,
        Ok(Err(error)) => Probe::NotAServer(error.to_string()),
        Ok(Ok(answer)) => read(&answer).unwrap_or_else(|| Probe::NotAServer("it does not speak HTTP".to_owned())),
    }
}

/// Whether a server of Planwright answers at the address within a third of a second.
pub(crate) async fn answers(listen: SocketAddr) -> bool {
    const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);
    let found = timeout(CONNECT_TIMEOUT, probe(listen, "/api/sessions")).await;
    matches!(found, Ok(Probe::Answered { ours: true, .. }))
}

/// A server that listens at all addresses is reached at the loopback address.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let here = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(here, listen.port())
}

async fn exchange(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn read(answer: &str) -> Option<Probe> {
    let (head, _) = answer.split_once("\r\n\r\n")?;
    let mut first = head.lines().next()?.split_whitespace();
    first.next().filter(|version| version.starts_with("HTTP/1."))?;
    let status = first.next()?.parse().ok()?;
    Some(Probe::Answered { status, ours: head.contains("realm=\"planwright\"") })
}
