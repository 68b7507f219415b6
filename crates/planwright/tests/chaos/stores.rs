//! The store under test and the disk that the servers write to.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::postgres::Postgres;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StoreKind {
    Sqlite,
    Postgres,
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        })
    }
}

#[derive(Debug)]
pub(crate) enum Store {
    /// The file is on the disk that can be filled.
    Sqlite,
    Postgres(tokio::sync::Mutex<Postgres>),
}

impl Store {
    pub(crate) fn start(kind: StoreKind) -> Result<Self, String> {
        match kind {
            StoreKind::Sqlite => Ok(Self::Sqlite),
            StoreKind::Postgres => Ok(Self::Postgres(tokio::sync::Mutex::new(Postgres::start()?))),
        }
    }

    pub(crate) fn url(&self, data: &Path) -> String {
        match self {
            Self::Sqlite => format!("sqlite:{}", data.join("planwright.db").display()),
            Self::Postgres(postgres) => {
                postgres.try_lock().map(|postgres| postgres.url()).expect("no fault has begun yet")
            }
        }
    }
}

/// How a full disk is made here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FullDisk {
    /// A small file system of its own is filled up.
    FileSystem,
    /// The servers may not write files beyond a small size; everything else is as on a full disk.
    FileSizeLimit,
    /// Neither is possible on this machine.
    Skipped,
}

/// The data folder of the servers.
#[derive(Debug)]
pub(crate) struct Disk {
    folder: TempDir,
    pub(crate) full: FullDisk,
}

const SIZE: &str = "size=64m,mode=0700";

impl Disk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("planwright-chaos-data.").tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(folder.path());
        let full = if succeeds(&mut mount) {
            FullDisk::FileSystem
        } else if succeeds(Command::new("prlimit").arg("--version")) {
            FullDisk::FileSizeLimit
        } else {
            FullDisk::Skipped
        };
        Self { folder, full }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Leaves not a single free block.
    pub(crate) fn fill(&self) {
        let mut file = std::fs::File::create(self.folder.path().join("filler")).unwrap();
        let block = vec![0; 1 << 20];
        while file.write_all(&block).is_ok() {}
        while file.write_all(&block[..4096]).is_ok() {}
    }

    pub(crate) fn free(&self) {
        std::fs::remove_file(self.folder.path().join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.full == FullDisk::FileSystem {
            // Lazily, because a process that is just ending may still have a file open.
            succeeds(Command::new("umount").arg("-l").arg(self.folder.path()));
        }
    }
}

pub(crate) fn succeeds(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
