//! `plan export`: the text itself, byte for byte.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use planwright_core::session::SessionIdentity;
use planwright_surfaces::private_file::NewFile;
use serde_json::json;

use crate::cli::ExportArgs;
use crate::context::Context;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::card;
use crate::terminal::text::count;

pub(super) async fn run(context: &Context, session: &SessionIdentity, arguments: &ExportArgs) -> ExitResult {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let text = plan.markdown();
    match &arguments.output {
        Some(path) => {
            write(path, &text, arguments.force)?;
            let file = path.display().to_string();
            let view = || json!({ "id": plan.id, "number": plan.number, "file": file, "bytes": text.len() });
            context
                .screen
                .answer(view, || format!("Plan {} is in {file} ({}).\n", plan.number, count(text.len(), "byte")))?;
        }
        None if context.screen.json => {
            let view = json!({ "id": plan.id, "number": plan.number, "digest": plan.digest(), "markdown": text });
            context.screen.print_json(&view)?;
        }
        // A terminal would obey what is hidden in the text; a file or a pipe gets exactly what was written.
        None if std::io::stdout().is_terminal() => context.screen.print(&card::lines(&text))?,
        None => {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(text.as_bytes())?;
            stdout.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// The file gets its name when it is complete.
fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            return Failure::usage(format!("{} exists already", path.display())).hint("`--force` overwrites it");
        }
        Failure::unavailable(format!("{} cannot be written: {error}", path.display()))
    };
    let new = NewFile::write(path, text.as_bytes()).map_err(failed)?;
    if force { new.replace(path) } else { new.create(path) }.map_err(failed)
}
