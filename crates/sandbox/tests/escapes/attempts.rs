//! The attempts, each a small function that runs inside of the sandbox.

mod files;
mod kernel;
mod network;
mod processes;
mod secrets;

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What secrets consist of, so that reading one is proved.
pub(crate) const SECRET: &str = "secret of the outside";

pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    /// For the page: what is tried.
    pub(crate) detail: &'static str,
    pub(crate) needs: Needs,
    /// Whether success is seen from outside.
    pub(crate) changes: bool,
    make: fn(&Inside) -> Result<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// Without a sandbox only root can do it.
    Root,
    /// The level `workspace` permits it.
    ReadOnlyLevel,
}

impl Attempt {
    const fn new(name: &'static str, detail: &'static str, make: fn(&Inside) -> Result<()>) -> Self {
        Self { name, detail, needs: Needs::Nothing, changes: false, make }
    }

    const fn changing(self) -> Self {
        Self { changes: true, ..self }
    }

    const fn for_root(self) -> Self {
        Self { needs: Needs::Root, ..self }
    }

    const fn at_read_only(self) -> Self {
        Self { needs: Needs::ReadOnlyLevel, ..self }
    }
}

pub(crate) static ALL: std::sync::LazyLock<Vec<Attempt>> = std::sync::LazyLock::new(|| {
    [files::attempts(), secrets::attempts(), processes::attempts(), network::attempts(), kernel::attempts()]
        .into_iter()
        .flatten()
        .collect()
});

/// What an attempt knows about the world outside.
pub(crate) struct Inside {
    root: PathBuf,
}

impl Inside {
    fn value(&self, name: &str) -> String {
        std::env::var(format!("ESCAPE_{name}")).unwrap()
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.root.join("outside").join(name)
    }

    fn number(&self, name: &str) -> i32 {
        self.value(name).parse().unwrap()
    }

    fn victim(&self) -> PathBuf {
        Path::new("/proc").join(self.value("VICTIM"))
    }
}

/// Makes one attempt and prints what came of it.
pub(crate) fn make(name: &str) -> ExitCode {
    let Some(attempt) = ALL.iter().find(|attempt| attempt.name == name) else { return ExitCode::FAILURE };
    let inside = Inside { root: std::env::var_os("ESCAPE_STAGE").unwrap().into() };
    match (attempt.make)(&inside) {
        Ok(()) => println!("ESCAPED {name}"),
        Err(error) => match (error.kind(), error.raw_os_error()) {
            (_, Some(errno)) if is_absent(attempt, errno) => println!("ABSENT {error}"),
            (_, Some(errno)) => println!("REFUSED {errno}"),
            // What is read is not the secret: an empty file stands in its place.
            (ErrorKind::InvalidData, None) => println!("REFUSED 0"),
            (_, None) => println!("BROKEN {error}"),
        },
    }
    ExitCode::SUCCESS
}

/// Errors that tell of a kernel without the feature, where the sandbox gives others.
fn is_absent(attempt: &Attempt, errno: i32) -> bool {
    let optional = ["copy_mounts_changed", "vsock_socket", "crypto_socket", "attribute", "io_uring", "module"];
    optional.contains(&attempt.name)
        && [libc::EAFNOSUPPORT, libc::EOPNOTSUPP, libc::ESOCKTNOSUPPORT, libc::ENOSYS].contains(&errno)
}

/// The content is the secret, or the attempt was in vain.
fn is_secret(content: impl AsRef<[u8]>) -> Result<()> {
    let is = content.as_ref().starts_with(SECRET.as_bytes());
    if is { Ok(()) } else { Err(Error::new(ErrorKind::InvalidData, "not the secret")) }
}

/// A folder that the attempt may write. Without namespaces `/tmp` is the one of the system, which may be refused.
fn private_folder() -> Result<tempfile::TempDir> {
    tempfile::tempdir().or_else(|_| tempfile::tempdir_in("."))
}
