//! Messages to another program, one per line.

use std::io;
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How many lines wait to be written.
const CAPACITY: usize = 64;

/// Writes lines in a task of its own, so that none is cut off half-way.
#[derive(Debug)]
pub struct LineWriter {
    /// `None` once it is closed.
    queue: Option<mpsc::Sender<Line>>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Line {
    bytes: Vec<u8>,
    written: Option<oneshot::Sender<()>>,
}

/// Room for one line.
#[derive(Debug)]
pub struct LineSlot(mpsc::OwnedPermit<Line>);

impl LineWriter {
    /// Must be called within a runtime.
    pub fn start<W: AsyncWrite + Send + Unpin + 'static>(output: W) -> Self {
        let (queue, waiting) = mpsc::channel(CAPACITY);
        let task = tokio::spawn(async move {
            if let Err(error) = write_lines(output, waiting).await {
                tracing::warn!(%error, "the other program does not read any more");
            }
        });
        Self { queue: Some(queue), task }
    }

    /// Writes a message as a line of JSON. It is ready when the line is written.
    pub fn send<T: Serialize + Send + 'static>(
        &self,
        message: T,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let queue = self.queue.clone();
        async move {
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the other program does not read any more");
            let (written, is_written) = oneshot::channel();
            let line = Line { bytes: line(&message)?, written: Some(written) };
            queue.ok_or_else(closed)?.send(line).await.map_err(|_| closed())?;
            is_written.await.map_err(|_| closed())
        }
    }

    /// Waits for room for one line; `None` once the writer is closed.
    pub async fn reserve(&self) -> Option<LineSlot> {
        self.queue.clone()?.reserve_owned().await.ok().map(LineSlot)
    }

    /// Writes what waits, for so long at most, and closes the output. Returns whether everything was written.
    pub async fn close(&mut self, wait: Duration) -> bool {
        self.queue = None;
        let is_done = timeout(wait, &mut self.task).await.is_ok();
        self.task.abort();
        is_done
    }
}

impl LineSlot {
    pub fn send<T: Serialize>(self, message: &T) -> io::Result<()> {
        self.0.send(Line { bytes: line(message)?, written: None });
        Ok(())
    }
}

fn line<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}

async fn write_lines<W: AsyncWrite + Unpin>(mut output: W, mut waiting: mpsc::Receiver<Line>) -> io::Result<()> {
    let mut batch = Vec::new();
    while waiting.recv_many(&mut batch, CAPACITY).await > 0 {
        for line in &batch {
            output.write_all(&line.bytes).await?;
        }
        output.flush().await?;
        for written in batch.drain(..).filter_map(|line| line.written) {
            // The sender may have dropped its receiver.
            let _ = written.send(());
        }
    }
    Ok(())
}
