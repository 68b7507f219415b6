//! What is written into the workbook without the model asking for it, and what the model is told about it: pieces of what
//! research brought, what failed and how often, whether a message is worth a workbook, and where the work stands.

use planwright_core::command::Command;
use planwright_core::refusal::Refusal;
use planwright_core::session::Session;
use planwright_core::snapshot::Snapshot;
use planwright_core::workbook::auto_init::{Assessment, assess};
use planwright_core::workbook::hint::{LastEdit, hint, invitation};
use planwright_core::workbook::{AssessmentRecord, DocumentKind, WorkbookCommand, WriteOrigin, errors, findings};
use serde_json::Value;

use super::reading::Document;
use super::syncing::DISK;
use super::writing::Beginning;
use crate::engine::{Asking, Engine};
use crate::ledger::{Committed, LedgerResult};

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedCall<'a> {
    pub(crate) tool: &'a str,
    /// As the model wrote them.
    pub(crate) arguments: &'a str,
    /// What it answered, or why it failed.
    pub(crate) answer: &'a str,
}

impl Engine {
    /// A piece of what a call brought, with where it is from.
    pub(crate) async fn note_finding(
        &self,
        asking: Asking<'_>,
        call: EndedCall<'_>,
    ) -> LedgerResult<Option<Committed>> {
        let (cap, now) = (self.policy().planning_files.findings_chars, self.now());
        let (source, text) = (call.told(), call.text());
        let add = |before: &str| Ok::<_, Refusal>(findings::add(before, &source, &text, cap, now));
        Ok(self.edit_document_as(asking, DocumentKind::Findings, WriteOrigin::Middleware, add).await?.committed)
    }

    /// What failed, and the how-manieth time it did.
    pub(crate) async fn note_error(
        &self,
        asking: Asking<'_>,
        call: EndedCall<'_>,
    ) -> LedgerResult<(u32, Option<Committed>)> {
        let now = self.now();
        let (source, error) = (call.told(), call.error());
        let mut attempts = 0;
        let note = |before: &str| {
            let (noted, times) = errors::note(before, &source, &error, now);
            attempts = times;
            Ok::<_, Refusal>(noted)
        };
        let committed =
            self.edit_document_as(asking, DocumentKind::Progress, WriteOrigin::Middleware, note).await?.committed;
        Ok((attempts, committed))
    }

    /// Whether a message is worth a workbook. The assessment and its reasons go into the journal, whatever they are.
    pub(crate) async fn judge_message(&self, asking: Asking<'_>, text: &str) -> LedgerResult<Assessment> {
        let assessment = assess(text, &self.policy().planning_files);
        let record = WorkbookCommand::RecordAssessment(AssessmentRecord::from(&assessment));
        self.submit_as(asking, Command::Workbook(record)).await?;
        Ok(assessment)
    }

    /// Whether a message may begin a workbook by itself: the setting says so, the person has not said no, and none is
    /// being worked with.
    pub(crate) async fn may_begin_by_itself(&self, session: &Session) -> LedgerResult<bool> {
        if !self.policy().planning_files.auto_init || session.refuses_planning_files() {
            return Ok(false);
        }
        match session.current_workbook() {
            Some(workbook) => self.is_complete(&session.identity, workbook).await,
            None => Ok(true),
        }
    }

    /// What the model is told about the workbook; nothing where planning files are off.
    pub(crate) async fn workbook_hint(&self, snapshot: &Snapshot) -> Option<String> {
        let session = snapshot.session.as_ref()?;
        if !session.has_planning_files(&self.policy().planning_files) {
            return None;
        }
        let Some(workbook) = session.current_workbook() else { return Some(invitation()) };
        let task_plan = workbook.document(DocumentKind::TaskPlan);
        match self.version(&snapshot.identity, DocumentKind::TaskPlan, task_plan).await {
            Ok(document) => Some(hint(workbook, &document.text, last_edit(&document))),
            Err(error) => {
                tracing::warn!(session_identity = %snapshot.identity, event = "planning_files", %error, "the task plan cannot be read");
                Some("# Workbook\n\nIt cannot be read now; say so to the person.\n".to_owned())
            }
        }
    }
}

fn last_edit(document: &Document) -> LastEdit {
    if document.by.through == DISK { LastEdit::Person } else { LastEdit::Agent }
}

impl Beginning {
    /// A workbook for what somebody wrote: the first line of it is the title.
    pub(crate) fn about(text: &str) -> Self {
        const LONGEST: usize = 80;
        let line = text.trim().lines().next().unwrap_or_default().trim();
        let title = match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
            None => line.to_owned(),
        };
        Self { title, force_new: false }
    }
}

impl EndedCall<'_> {
    /// The call in one line. Arguments that are written differently and say the same are the same.
    fn told(&self) -> String {
        let arguments = match serde_json::from_str::<Value>(self.arguments) {
            Ok(Value::Null) => "{}".to_owned(),
            Ok(value) => value.to_string(),
            Err(_) if self.arguments.trim().is_empty() => "{}".to_owned(),
            Err(_) => self.arguments.to_owned(),
        };
        format!("{} {arguments}", self.tool)
    }

    /// What is worth reading of an answer: the text in it if it has one.
    fn text(&self) -> String {
        let Ok(value) = serde_json::from_str::<Value>(self.answer) else { return self.answer.to_owned() };
        let inside = ["content", "text"].iter().find_map(|name| value.get(name)?.as_str());
        match inside {
            Some(text) => text.to_owned(),
            None => serde_json::to_string_pretty(&value).unwrap_or_else(|_| self.answer.to_owned()),
        }
    }

    /// The code and the message of a refusal, or whatever else it says.
    fn error(&self) -> String {
        let Ok(value) = serde_json::from_str::<Value>(self.answer) else { return self.answer.to_owned() };
        let part = |name: &str| value.get(name).and_then(Value::as_str);
        match (part("code"), part("message")) {
            (Some(code), Some(message)) => format!("{code}: {message}"),
            (None, Some(message)) => message.to_owned(),
            (Some(_) | None, None) => self.answer.to_owned(),
        }
    }
}
