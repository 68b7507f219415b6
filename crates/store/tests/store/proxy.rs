//! A line to the server that can be cut at the worst moment.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinHandle;
use tokio_postgres::config::Host;

/// What is sent with these words in it commits by itself.
pub(crate) const CUT_HERE: &str = "cut-here";

/// Where a transaction's end gets lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server never hears of it and undoes the transaction.
    BeforeCommit,
    /// The server commits, and its answer is lost.
    AfterCommit,
}

/// A socket beside the server's own that passes everything on, except for what is cut.
pub(crate) struct Proxy {
    folder: tempfile::TempDir,
    cuts: Arc<AtomicU32>,
    task: JoinHandle<()>,
}

/// A proxy to an address on which no process listens.
pub(crate) struct Stopped(tempfile::TempDir);

impl Proxy {
    pub(crate) fn start(url: &str, cut: Cut) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), url, cut)
    }

    fn start_in(folder: tempfile::TempDir, url: &str, cut: Cut) -> Self {
        let cuts = Arc::new(AtomicU32::new(0));
        let listener = UnixListener::bind(socket(&folder)).unwrap();
        let task = tokio::spawn(listen(listener, url.to_owned(), cut, cuts.clone()));
        Self { folder, cuts, task }
    }

    /// The URL by way of the proxy.
    pub(crate) fn url(&self, url: &str) -> String {
        let (before, host) = url.split_once("host=").expect("the tests' server is named by a host parameter");
        let rest = host.split_once('&').map_or("", |(_, rest)| rest);
        format!("{before}host={}&{rest}", self.folder.path().display())
    }

    /// Cuts the line at the next commits, as many as these.
    pub(crate) fn cut_next(&self, commits: u32) {
        self.cuts.store(commits, Ordering::SeqCst);
    }

    pub(crate) fn cuts_left(&self) -> u32 {
        self.cuts.load(Ordering::SeqCst)
    }

    /// Cuts every connection and answers no new one.
    pub(crate) async fn stop(self) -> Stopped {
        self.task.abort();
        let _ = self.task.await;
        std::fs::remove_file(socket(&self.folder)).unwrap();
        Stopped(self.folder)
    }
}

impl Stopped {
    pub(crate) fn start_again(self, url: &str) -> Proxy {
        Proxy::start_in(self.0, url, Cut::BeforeCommit)
    }
}

fn socket(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join(".s.PGSQL.5432")
}

async fn listen(listener: UnixListener, url: String, cut: Cut, cuts: Arc<AtomicU32>) {
    // Aborted together with the listener.
    let mut lines = tokio::task::JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        let (server_read, server_write) = connect(&url).await;
        lines.spawn(pass_on(client, server_read, server_write, cut, cuts.clone()));
    }
}

type Reading = Box<dyn AsyncRead + Send + Unpin>;
type Writing = Box<dyn AsyncWrite + Send + Unpin>;

async fn connect(url: &str) -> (Reading, Writing) {
    let config: tokio_postgres::Config = url.parse().unwrap();
    let port = config.get_ports().first().copied().unwrap_or(5432);
    match &config.get_hosts()[0] {
        Host::Unix(folder) => {
            let (read, write) =
                UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await.unwrap().into_split();
            (Box::new(read), Box::new(write))
        }
        Host::Tcp(host) => {
            let (read, write) = TcpStream::connect((host.as_str(), port)).await.unwrap().into_split();
            (Box::new(read), Box::new(write))
        }
    }
}

async fn pass_on(client: UnixStream, mut from_server: Reading, mut to_server: Writing, cut: Cut, cuts: Arc<AtomicU32>) {
    let (mut from_client, mut to_client) = client.into_split();
    let back = async { drop(tokio::io::copy(&mut from_server, &mut to_client).await) };
    let forth = async {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
            let sent = &buffer[..count];
            let commits = sent.windows(7).any(|window| window == b"COMMIT\0" || window == b"COMMIT;")
                || sent.windows(CUT_HERE.len()).any(|window| window == CUT_HERE.as_bytes());
            let take = |left: u32| left.checked_sub(1);
            let cut_here = commits && cuts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok();
            let arrives = !cut_here || cut == Cut::AfterCommit;
            if arrives && to_server.write_all(sent).await.is_err() {
                return;
            }
            if cut_here {
                return;
            }
        }
    };
    // Whichever ends first takes the other with it, so nothing comes back from the server after a cut.
    tokio::select! {
        () = forth => {}
        () = back => {}
    }
}
