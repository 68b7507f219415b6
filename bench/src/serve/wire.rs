//! The thinnest HTTP client there is, so that the server is measured and not the client.

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::program::Program;

/// One connection that stays open.
pub(crate) struct Wire {
    stream: TcpStream,
    always: String,
    read: Vec<u8>,
}

pub(crate) struct Answer {
    status: u16,
    pub(crate) tag: Option<String>,
    body: String,
}

impl Answer {
    pub(crate) fn is_good(&self) -> anyhow::Result<()> {
        anyhow::ensure!((200..400).contains(&self.status), "{}: {}", self.status, self.body);
        Ok(())
    }
}

impl Wire {
    pub(crate) async fn connect(server: &Program) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(server.address()).await?;
        stream.set_nodelay(true)?;
        let always = format!("Host: {}\r\nAuthorization: Bearer {}\r\n", server.address(), server.token());
        Ok(Self { stream, always, read: Vec::with_capacity(64 * 1024) })
    }

    /// `request` is the first line and the headers; what stands behind an empty line is the body.
    pub(crate) async fn ask(&mut self, request: &str) -> anyhow::Result<Answer> {
        let (head, body) = request.split_once("\r\n\n").map_or((request, ""), |(head, body)| (head, body));
        let head = head.trim_end_matches("\r\n");
        let text = format!("{head}\r\n{}\r\n{body}", self.always);
        self.stream.write_all(text.as_bytes()).await?;
        self.answer().await
    }

    async fn answer(&mut self) -> anyhow::Result<Answer> {
        self.read.clear();
        let end = loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let head = std::str::from_utf8(&self.read[..end])?.to_owned();
        let status = head.get(9..12).context("no status")?.parse()?;
        let header = |wanted: &str| {
            head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
            })
        };
        let length: usize = header("content-length").map_or(Ok(0), |length| length.parse())?;
        let length = if status == 304 { 0 } else { length };
        while self.read.len() < end + length {
            self.more().await?;
        }
        let body = String::from_utf8_lossy(&self.read[end..end + length]).into_owned();
        Ok(Answer { status, tag: header("etag"), body })
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        let count = self.stream.read_buf(&mut self.read).await?;
        anyhow::ensure!(count > 0, "the server hung up");
        Ok(())
    }
}
