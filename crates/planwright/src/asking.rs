//! Asking a server that may be there, in as few words as HTTP needs.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(5);
/// No answer that is meant here is longer.
const LONGEST: u64 = 64 * 1024;

/// What came back.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Nobody listens there.
    Nobody,
    /// Somebody does, and does not answer as a server does, in words.
    Strange(String),
    /// `ours` if it asks for a token of ours, which it does everywhere but at the few open places.
    Answered { status: u16, ours: bool },
}

/// Asks without a token.
pub(crate) async fn ask(listen: SocketAddr, path: &str) -> Asked {
    match timeout(PATIENCE, exchange(reachable(listen), path)).await {
        Err(_) => Asked::Strange(format!("it did not answer within {} seconds", PATIENCE.as_secs())),
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Asked::Nobody,
        Ok(Err(error)) => Asked::Strange(error.to_string()),
        Ok(Ok(answer)) => read(&answer).unwrap_or_else(|| Asked::Strange("it does not speak HTTP".to_owned())),
    }
}

/// Whoever listens everywhere is reached here as well.
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
    stream.take(LONGEST).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn read(answer: &str) -> Option<Asked> {
    let (head, _) = answer.split_once("\r\n\r\n")?;
    let mut first = head.lines().next()?.split_whitespace();
    first.next().filter(|version| version.starts_with("HTTP/1."))?;
    let status = first.next()?.parse().ok()?;
    Some(Asked::Answered { status, ours: head.contains("realm=\"planwright\"") })
}
