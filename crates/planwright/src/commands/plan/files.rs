//! `plan files`: the workbook that the agent keeps, on and off, listed and shown.

use std::io::{IsTerminal as _, Write as _};

use planwright_agent::tools::workbook_list_value;
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::DocumentKind;
use planwright_engine::workbook::{Note, WorkbookList};
use serde_json::json;

use crate::cli::FilesCommand;
use crate::context::Context;
use crate::failure::{Exit, ExitResult};
use crate::terminal::markdown;
use crate::terminal::palette::{BOLD, DIM, GOOD};
use crate::terminal::text::{paint, shown_line};

pub(super) async fn run(context: &Context, session: &SessionIdentity, command: &FilesCommand) -> ExitResult {
    match command {
        FilesCommand::On => switch(context, session, true).await,
        FilesCommand::Off => switch(context, session, false).await,
        FilesCommand::List => list(context, session).await,
        FilesCommand::Show { document } => show(context, session, *document).await,
    }
}

async fn switch(context: &Context, session: &SessionIdentity, on: bool) -> ExitResult {
    if on {
        context.engine.sessions().open(session, &context.person).await?;
    }
    context.engine.workbooks().switch_planning_files(session, &context.person, on).await?;
    let word = if on { paint("on", GOOD.bold()) } else { paint("off", BOLD) };
    let folder = folder(context, session);
    let view = || {
        json!({
            "sessionId": session.conversation,
            "channel": session.channel,
            "planningFiles": on,
            "folder": folder,
        })
    };
    let place = paint(&format!("They are in {folder}, once there are any."), DIM);
    context.screen.answer(view, || format!("Planning files are {word} in {session}.\n{place}\n"))
}

async fn list(context: &Context, session: &SessionIdentity) -> ExitResult {
    let listed = context.engine.workbooks().list(session).await?;
    context.screen.answer(|| workbook_list_value(&listed), || describe(&listed, &folder(context, session)))
}

fn describe(listed: &WorkbookList, folder: &str) -> String {
    let mut lines = match &listed.current {
        None => vec!["There is no workbook now.".to_owned()],
        Some(current) => {
            let state = if listed.is_complete { "complete" } else { "in work" };
            vec![format!("{}, {state}", paint(&shown_line(&current.title), BOLD)), paint(folder, DIM)]
        }
    };
    for archive in listed.latest_archives() {
        lines.push(format!("archived as {}: {}", shown_line(&archive.name), shown_line(&archive.title)));
    }
    lines.extend(listed.notes.iter().map(|note| shown_line(&note.to_string())));
    lines.join("\n") + "\n"
}

async fn show(context: &Context, session: &SessionIdentity, which: DocumentKind) -> ExitResult {
    let notes = context.engine.workbooks().sync(session).await?;
    let document = context.engine.workbooks().document(session, which).await?;
    if context.screen.json {
        let notes: Vec<_> = notes.iter().map(Note::to_string).collect();
        let view = json!({
            "which": which,
            "version": document.version,
            "by": document.by,
            "at": document.at,
            "markdown": document.text,
            "notes": notes,
        });
        context.screen.print_json(&view)?;
    } else if std::io::stdout().is_terminal() {
        context.screen.print(&markdown::render(&document.text, context.screen.width))?;
    } else {
        // A file or a pipe gets exactly what was written.
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(document.text.as_bytes())?;
        stdout.flush()?;
    }
    Ok(Exit::Done)
}

fn folder(context: &Context, session: &SessionIdentity) -> String {
    context.data.join("users").join(session.folder_name()).join("plan").display().to_string()
}
