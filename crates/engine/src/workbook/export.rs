//! A copy of the workbook among the person's own files. An existing file is never replaced.

use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::DocumentKind;
use serde_json::{Value, json};

use crate::workbook_dir::WorkbookFolders;

/// The number of names that are tried before the caller has to give one.
const NAMES: u32 = 100;

/// Writes the text to `path` among the person's files, or to a free name if there is no `path`.
pub(super) async fn write(
    folders: &WorkbookFolders,
    session: &SessionIdentity,
    which: Option<DocumentKind>,
    path: Option<&str>,
    text: String,
) -> Result<Value, Refusal> {
    if let Some(path) = path {
        return Ok(answer(&folders.files.write_new(session, path, text).await?));
    }
    let stem = which.map_or("plan", DocumentKind::as_str);
    for n in 1..=NAMES {
        let name = if n == 1 { format!("{stem}.md") } else { format!("{stem}-{n}.md") };
        match folders.files.write_new(session, &name, text.clone()).await {
            Err(refusal) if refusal.code == RefusalCode::Conflict => {}
            written => return Ok(answer(&written?)),
        }
    }
    Err(Refusal::conflict(format!("{stem}.md and many names like it are taken; say another `path`.")))
}

fn answer(written: &Value) -> Value {
    json!({ "path": written["path"], "bytes": written["bytes"] })
}
