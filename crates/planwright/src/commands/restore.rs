//! `planwright restore`

use std::fs::File;
use std::io;
use std::path::Path;

use serde_json::json;

use super::ProgressLine;
use crate::backup::{Checked, Merging, Report, Restoring, check};
use crate::cli::{Global, RestoreArgs};
use crate::context::{Context, Store};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::palette::{GOOD, WARNING};
use crate::terminal::text::{count, paint, shown_line};

pub(crate) async fn run(global: &Global, arguments: &RestoreArgs) -> Outcome {
    // The archive is checked first: one that cannot be used leaves no store behind.
    let mut archive = open(&arguments.file)?;
    let checked = check(&mut archive)?;
    let context = Context::open(global, Store::MayBeMade).await?;
    let merging = if arguments.merge { Merging::Wanted } else { Merging::Refused };
    let restoring = Restoring::prepare(context.ledger.as_ref(), &context.users(), &checked, merging).await?;
    let mut progress_line = ProgressLine::new(&context.screen);
    let all = checked.manifest.sessions;
    let written = restoring.write(&mut archive, |report| {
        progress_line.show(&format!("sessions: {} of {all}, files: {}", report.sessions, report.files));
    });
    let written = written.await;
    progress_line.clear();
    let report = written?;
    context.screen.answer(|| view(&checked, &report), || words(&checked, &report))?;
    Ok(Exit::Done)
}

/// What comes from stdin is kept, because it is read twice.
fn open(path: &Path) -> Result<File, Failure> {
    if path != Path::new("-") {
        return File::open(path).map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())));
    }
    let keep = || -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        Ok(file)
    };
    keep().map_err(|error| Failure::unavailable(format!("stdin cannot be kept: {error}")))
}

fn view(checked: &Checked, report: &Report) -> serde_json::Value {
    json!({
        "madeAt": checked.manifest.made_at,
        "sessions": report.sessions,
        "files": report.files,
        "pointers": report.pointers,
        "alreadyThere": report.already_there,
        "left": report.left,
        "notInArchive": checked.manifest.damaged,
    })
}

fn words(checked: &Checked, report: &Report) -> String {
    let mut text = String::new();
    for (title, named) in [("left as it is:", &report.left), ("not in the archive:", &checked.manifest.damaged)] {
        for named in named {
            let why = format!("{}: {}", shown_line(&named.what), shown_line(&named.reason));
            text.push_str(&format!("{} {why}\n", paint(title, WARNING)));
        }
    }
    let brought = format!("Brought back: {}, {}", count(report.sessions, "session"), count(report.files, "file"));
    let there = match report.already_there {
        0 => String::new(),
        number => format!("; {number} were here already"),
    };
    text.push_str(&paint(&format!("{brought}{there}."), GOOD));
    text.push('\n');
    text
}
