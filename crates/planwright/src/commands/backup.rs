//! `planwright backup`

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use planwright_surfaces::private_file;
use serde_json::json;
use tempfile::TempPath;

use super::ProgressLine;
use super::shared_files::fetch_all;
use crate::backup::{Manifest, create};
use crate::cli::BackupArgs;
use crate::context::Context;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::palette::{ERROR, GOOD, WARNING};
use crate::terminal::text::{count, paint, shown_line};

pub(crate) async fn run(context: &Context, arguments: &BackupArgs) -> ExitResult {
    let manifest = if arguments.file == Path::new("-") {
        let (_, manifest) = archive(context, BufWriter::new(io::stdout().lock())).await?;
        // stdout is the archive.
        write!(anstream::stderr().lock(), "{}", describe(&manifest, "stdout"))?;
        manifest
    } else {
        let target = ArchiveFile::new(&arguments.file, arguments.force)?;
        let (file, manifest) = archive(context, BufWriter::new(&target.file)).await?;
        file.into_inner().map_err(|error| target.unwritable(error.error()))?;
        target.finish()?;
        let file = arguments.file.display().to_string();
        context.screen.answer(|| view(&manifest, &file), || describe(&manifest, &file))?;
        manifest
    };
    Ok(if manifest.damaged.is_empty() { Exit::Done } else { Exit::Damaged })
}

async fn archive<W: io::Write>(context: &Context, to: W) -> Result<(W, Manifest), Failure> {
    let mut progress_line = ProgressLine::new(&context.screen);
    let show = |manifest: &Manifest| {
        progress_line.show(&format!("sessions: {}, entries: {}", manifest.sessions, manifest.entries));
    };
    // Where servers share the files, those of other servers are in the archive, too.
    fetch_all(context).await?;
    let made = create(context.ledger.as_ref(), &context.users(), to, show).await;
    progress_line.clear();
    let (mut to, manifest) = made?;
    to.flush().map_err(|error| Failure::unavailable(format!("the archive cannot be written: {error}")))?;
    Ok((to, manifest))
}

/// The archive's file. It is `FILE.partial` until it is complete.
struct ArchiveFile {
    path: PathBuf,
    partial: TempPath,
    file: File,
    force: bool,
}

impl ArchiveFile {
    fn new(path: &Path, force: bool) -> Result<Self, Failure> {
        if !force && path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let unwritable =
            |error: &io::Error| Failure::unavailable(format!("{} cannot be written: {error}", partial.display()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        // The archive has conversations in it: only its owner may read it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&partial).map_err(|error| unwritable(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::unavailable(format!("another backup is writing {}", partial.display())));
            }
            Err(TryLockError::Error(error)) => return Err(unwritable(&error)),
        }
        file.set_len(0).map_err(|error| unwritable(&error))?;
        let partial = TempPath::try_from_path(&partial).map_err(|error| unwritable(&error))?;
        Ok(Self { path: path.to_owned(), partial, file, force })
    }

    /// Flushes the file to disk, then gives it its name.
    fn finish(self) -> Result<(), Failure> {
        self.file.sync_all().map_err(|error| self.unwritable(&error))?;
        let Self { path, partial, force, .. } = self;
        let placed = if force { private_file::replace(partial, &path) } else { private_file::create(partial, &path) };
        placed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&path),
            _ => Failure::unavailable(format!("{} cannot be written: {error}", path.display())),
        })
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        Failure::unavailable(format!("{} cannot be written: {error}", self.path.display()))
    }
}

fn exists(path: &Path) -> Failure {
    Failure::usage(format!("{} exists already", path.display())).hint("`--force` overwrites it")
}

fn view(manifest: &Manifest, file: &str) -> serde_json::Value {
    json!({
        "file": file,
        "madeAt": manifest.made_at,
        "sessions": manifest.sessions,
        "entries": manifest.entries,
        "files": manifest.files,
        "damaged": manifest.damaged,
        "leftOut": manifest.left_out,
    })
}

fn describe(manifest: &Manifest, file: &str) -> String {
    let Manifest { sessions, entries, files, damaged, left_out, .. } = manifest;
    let mut text = String::new();
    for (title, named) in [(paint("damaged:", ERROR), damaged), (paint("left out:", WARNING), left_out)] {
        for named in named {
            text.push_str(&format!("{title} {}: {}\n", shown_line(&named.what), shown_line(&named.reason)));
        }
    }
    let held = format!("{}, {}, {}", count(*sessions, "session"), count(*entries, "entry"), count(*files, "file"));
    let style = if damaged.is_empty() { GOOD } else { WARNING };
    text.push_str(&paint(&format!("The backup is in {}: {held}.", shown_line(file)), style));
    text.push('\n');
    text
}
