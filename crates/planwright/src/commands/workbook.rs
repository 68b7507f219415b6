//! `planwright workbook adopt`: notes in files that lie in a project become the workbook.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use planwright_core::workbook::{DocumentKind, Documents, sections};
use planwright_engine::workbook::NewWorkbook;
use serde_json::json;

use crate::cli::{AdoptArgs, Global, WorkbookAction, WorkbookArgs};
use crate::context::{Context, SessionUse};
use crate::failure::{ExitResult, Failure};
use crate::terminal::palette::BOLD;
use crate::terminal::text::{paint, shown_line};

pub(crate) async fn run(global: &Global, arguments: WorkbookArgs) -> ExitResult {
    let purpose = SessionUse::Use;
    let mut context = Context::open(global, purpose.store()).await?;
    let named = arguments.session.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let session = context.enter(named, purpose).await?;
    let WorkbookAction::Adopt(AdoptArgs { folder, archive }) = arguments.command;
    let most = context.engine.policy().limits.document_bytes;
    let mut found = Documents::<Option<String>>::default();
    for which in DocumentKind::ALL {
        *found.get_mut(which) = read(&folder.join(which.file_name()), most)?;
    }
    let adopted: Vec<&str> = DocumentKind::ALL
        .into_iter()
        .filter(|which| found.get(*which).is_some())
        .map(DocumentKind::file_name)
        .collect();
    if adopted.is_empty() {
        let names: Vec<_> = DocumentKind::ALL.into_iter().map(DocumentKind::file_name).collect();
        return Err(Failure::not_found(format!("{} has none of {}", folder.display(), names.join(", "))));
    }
    let new = NewWorkbook { force_new: archive, ..NewWorkbook::about(&title(&found, &folder)) };
    let begun = context.engine.workbooks().adopt(&session, &context.person, &new, &found).await?;
    if !begun.is_new {
        let title = quoted(&begun.workbook.title);
        let refusal = Refusal::wrong_status(format!("The workbook {title} is in work, so nothing was adopted."));
        return Err(Failure::from(refusal).hint("`--archive` archives it first"));
    }
    let notes: Vec<_> = begun.notes.iter().map(ToString::to_string).collect();
    let view = || {
        json!({
            "sessionId": session.conversation,
            "channel": session.channel,
            "title": begun.workbook.title,
            "adopted": adopted,
            "archived": begun.archived,
            "notes": notes,
        })
    };
    let describe = || {
        let title = paint(&shown_line(&begun.workbook.title), BOLD);
        let mut text = format!("{title} is the workbook of {session} now, from {}.\n", adopted.join(", "));
        text.push_str("The files stay as they are; what you change in them from now on is not read.\n");
        if let Some(name) = &begun.archived {
            text.push_str(&format!("The workbook before it was archived as {}.\n", shown_line(name)));
        }
        notes.iter().for_each(|note| text.push_str(&format!("{}\n", shown_line(note))));
        text
    };
    context.screen.answer(view, describe)
}

/// The text of a file; `None` if it is not there or blank. A link is refused: what it points to is not a file of this folder.
pub(super) fn read(path: &Path, most: usize) -> Result<Option<String>, Failure> {
    let failed = |reason: String| Failure::usage(format!("{} cannot be adopted: {reason}", path.display()));
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(failed("it is not a file".to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    }
    let mut text = String::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    file.take(most as u64 + 1).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    if text.len() > most {
        return Err(failed(format!("it has more than {most} bytes")));
    }
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// The title of the task plan, else the name of the folder.
pub(super) fn title(found: &Documents<Option<String>>, folder: &Path) -> String {
    let of_plan = found.task_plan.as_deref().and_then(|text| sections::headings(text).into_iter().next());
    let named = of_plan.map(|section| section.title).filter(|title| !title.trim().is_empty());
    let of_folder = || {
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        whole.file_name().map(|name| name.to_string_lossy().into_owned())
    };
    named.or_else(of_folder).unwrap_or_else(|| "Workbook".to_owned())
}
