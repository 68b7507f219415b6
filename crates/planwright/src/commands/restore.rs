//! `planwright restore`

use std::fs::File;
use std::io;
use std::path::Path;

use serde_json::json;

use super::ProgressLine;
use super::shared_files::publish_all;
use crate::backup::{CheckedArchive, ExistingSessions, Restore, RestoreReport, check};
use crate::cli::{Global, RestoreArgs};
use crate::context::{Context, Store};
use crate::failure::{ExitResult, Failure};
use crate::terminal::palette::{GOOD, WARNING};
use crate::terminal::text::{count, paint, shown_line};

pub(crate) async fn run(global: &Global, arguments: &RestoreArgs) -> ExitResult {
    // The archive is checked before the store is opened, so that a bad archive makes no store.
    let mut file = open(&arguments.file)?;
    let archive = check(&mut file)?;
    let context = Context::open(global, Store::MayBeMade).await?;
    let others = if arguments.merge { ExistingSessions::Merge } else { ExistingSessions::Refuse };
    let restore = Restore::prepare(context.ledger.as_ref(), &context.users(), &archive, others).await?;
    let mut progress_line = ProgressLine::new(&context.screen);
    let all = archive.manifest.sessions;
    let written = restore.write(&mut file, |report| {
        progress_line.show(&format!("files: {}, sessions: {} of {all}", report.files, report.sessions));
    });
    let written = written.await;
    progress_line.clear();
    let report = written?;
    publish_all(&context).await?;
    context.screen.answer(|| view(&archive, &report), || describe(&archive, &report))
}

/// An archive from stdin is copied to a temporary file, because it is read twice.
fn open(path: &Path) -> Result<File, Failure> {
    if path != Path::new("-") {
        return File::open(path).map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())));
    }
    let keep = || -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        Ok(file)
    };
    keep().map_err(|error| Failure::unavailable(format!("stdin cannot be copied to a temporary file: {error}")))
}

fn view(archive: &CheckedArchive, report: &RestoreReport) -> serde_json::Value {
    json!({
        "madeAt": archive.manifest.made_at,
        "sessions": report.sessions,
        "files": report.files,
        "pointers": report.pointers,
        "alreadyThere": report.same_sessions + report.same_files,
        "sessionsAlreadyThere": report.same_sessions,
        "filesAlreadyThere": report.same_files,
        "left": report.left,
        "notInArchive": archive.manifest.damaged,
    })
}

fn describe(archive: &CheckedArchive, report: &RestoreReport) -> String {
    let mut text = String::new();
    for (title, omitted) in [("not restored:", &report.left), ("not in the archive:", &archive.manifest.damaged)] {
        for omitted in omitted {
            let why = format!("{}: {}", shown_line(&omitted.what), shown_line(&omitted.reason));
            text.push_str(&format!("{} {why}\n", paint(title, WARNING)));
        }
    }
    let both = |sessions, files| format!("{}, {}", count(sessions, "session"), count(files, "file"));
    let mut summary = format!("Added: {}.", both(report.sessions, report.files));
    if report.same_sessions + report.same_files > 0 {
        let same = both(report.same_sessions, report.same_files);
        summary.push_str(&format!(" Already in the store and unchanged: {same}."));
    }
    text.push_str(&paint(&summary, GOOD));
    text.push('\n');
    text
}
