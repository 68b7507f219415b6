//! A proxy that is `https://telegram.test` for whoever believes its authority.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// What the proxy answers for.
pub const TELEGRAM: &str = "https://telegram.test";

/// Ends with this value.
#[derive(Debug)]
pub struct TlsProxy {
    child: Child,
    /// For a variable such as `HTTPS_PROXY`.
    pub url: String,
    folder: TempDir,
}

impl TlsProxy {
    /// Passes what it takes on to a server at `http://127.0.0.1:PORT`.
    pub fn start(server: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("authority.pem", include_str!("tls_proxy/authority.pem")),
            ("server.pem", include_str!("tls_proxy/server.pem")),
            ("proxy.py", include_str!("tls_proxy/proxy.py")),
        ];
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let port = server.rsplit(':').next().unwrap().trim_end_matches('/');
        let mut command = Command::new("python3");
        command.args(["proxy.py", "server.pem", port]).current_dir(folder.path());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: format!("http://127.0.0.1:{}", line.trim()), folder }
    }

    /// The certificate of the authority that signed the proxy's.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
}

impl Drop for TlsProxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
