//! A copy of the workbook among the person's own files. A file that is there is never replaced.

use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::{DocumentKind, archive};
use serde_json::{Value, json};

use super::document::none_yet;
use super::results::with_notes;
use crate::engine::Engine;
use crate::ledger::LedgerResult;

/// How many names are tried before somebody has to say one.
const NAMES: u32 = 100;

impl Engine {
    /// Copies one document, or all three in one file, and says where it is now.
    pub async fn export_workbook(
        &self,
        session: &SessionIdentity,
        which: Option<DocumentKind>,
        path: Option<&str>,
    ) -> LedgerResult<Value> {
        let workbook_files = self.workbook_files(session).await;
        let notes = self.sync(session, &workbook_files).await?.notes;
        drop(workbook_files);
        let Some(folders) = self.workbook_folders() else {
            return Err(Refusal::new(RefusalCode::Unavailable, "There are no files of the person here.").into());
        };
        let text = self.exported(session, which).await?;
        if let Some(path) = path {
            let written = folders.files.write_new(session, path, text).await?;
            return Ok(with_notes(answer(&written), &notes));
        }
        let stem = which.map_or("plan", DocumentKind::as_str);
        for n in 1..=NAMES {
            let name = if n == 1 { format!("{stem}.md") } else { format!("{stem}-{n}.md") };
            match folders.files.write_new(session, &name, text.clone()).await {
                Err(refusal) if refusal.code == RefusalCode::Conflict => {}
                written => return Ok(with_notes(answer(&written?), &notes)),
            }
        }
        Err(Refusal::conflict(format!("{stem}.md and many names like it are taken; say another `path`.")).into())
    }

    async fn exported(&self, session: &SessionIdentity, which: Option<DocumentKind>) -> LedgerResult<String> {
        if let Some(which) = which {
            return Ok(self.document(session, which).await?.text);
        }
        let workbook = self.current_workbook(session).await?.ok_or_else(none_yet)?;
        let texts = self.texts(session, &workbook.documents.map(|document| document.seq)).await?;
        Ok(archive::text(&workbook.title, self.now(), &texts))
    }
}

fn answer(written: &Value) -> Value {
    json!({ "path": written["path"], "bytes": written["bytes"] })
}
