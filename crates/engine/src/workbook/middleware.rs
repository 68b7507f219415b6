//! Writes into the workbook that the model does not ask for, and the hint about the workbook in the prompt: parts of
//! research results, failed calls and their number, the assessment of a message, and the state of the work.

use planwright_core::command::Command;
use planwright_core::refusal::Refusal;
use planwright_core::session::Session;
use planwright_core::snapshot::Snapshot;
use planwright_core::workbook::auto_init::{Assessment, assess};
use planwright_core::workbook::hint::{LastEdit, hint, invitation};
use planwright_core::workbook::{AssessmentRecord, DocumentKind, WorkbookCommand, WriteOrigin, errors, findings};
use serde_json::Value;

use super::Workbooks;
use super::document::DocumentVersion;
use super::edit::NewWorkbook;
use super::sync::DISK;
use crate::ledger::{Committed, LedgerResult};
use crate::submitter::{SubmitRequest, Submitter};

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
pub struct EndedCall<'a> {
    pub tool: &'a str,
    /// As the model wrote them.
    pub arguments: &'a str,
    /// The answer, or the reason of the failure.
    pub answer: &'a str,
}

/// Writes into the workbook when a call ends or a message arrives, and makes the hint in the prompt.
#[derive(Debug, Clone)]
pub struct WorkbookMiddleware {
    submitter: Submitter,
    workbooks: Workbooks,
}

impl WorkbookMiddleware {
    pub fn new(submitter: Submitter, workbooks: Workbooks) -> Self {
        Self { submitter, workbooks }
    }

    /// Adds a part of what a call returned to the findings, with its source.
    pub async fn note_finding(
        &self,
        request: SubmitRequest<'_>,
        call: EndedCall<'_>,
    ) -> LedgerResult<Option<Committed>> {
        let (cap, now) = (self.submitter.policy().planning_files.findings_chars, self.submitter.now());
        let (source, text) = (call.summary(), call.text());
        let add = |before: &str| Ok::<_, Refusal>(findings::add(before, &source, &text, cap, now));
        Ok(self.workbooks.edit_as(request, DocumentKind::Findings, WriteOrigin::Middleware, add).await?.committed)
    }

    /// Notes a failed call in the progress document. Returns how many times it has failed by now.
    pub async fn note_error(
        &self,
        request: SubmitRequest<'_>,
        call: EndedCall<'_>,
    ) -> LedgerResult<(u32, Option<Committed>)> {
        let now = self.submitter.now();
        let (source, error) = (call.summary(), call.error());
        let mut attempts = 0;
        let note = |before: &str| {
            let (noted, times) = errors::note(before, &source, &error, now);
            attempts = times;
            Ok::<_, Refusal>(noted)
        };
        let committed =
            self.workbooks.edit_as(request, DocumentKind::Progress, WriteOrigin::Middleware, note).await?.committed;
        Ok((attempts, committed))
    }

    /// Assesses whether a message needs a workbook. The assessment and its reasons go into the journal in both cases.
    pub async fn assess_message(&self, request: SubmitRequest<'_>, text: &str) -> LedgerResult<Assessment> {
        let assessment = assess(text, &self.submitter.policy().planning_files);
        let record = WorkbookCommand::RecordAssessment(AssessmentRecord::from(&assessment));
        self.submitter.submit_as(request, Command::Workbook(record)).await?;
        Ok(assessment)
    }

    /// Whether a message may begin a workbook without a request for one: the setting allows it, the person has not switched
    /// it off, and no workbook is open.
    pub async fn may_begin_by_itself(&self, session: &Session) -> LedgerResult<bool> {
        if !self.submitter.policy().planning_files.auto_init || session.refuses_planning_files() {
            return Ok(false);
        }
        match session.current_workbook() {
            Some(workbook) => self.workbooks.is_complete(&session.identity, workbook).await,
            None => Ok(true),
        }
    }

    /// The part of the prompt about the workbook; `None` if planning files are off.
    pub async fn hint(&self, snapshot: &Snapshot) -> Option<String> {
        let session = snapshot.session.as_ref()?;
        if !session.has_planning_files(&self.submitter.policy().planning_files) {
            return None;
        }
        let Some(workbook) = session.current_workbook() else { return Some(invitation()) };
        match self.workbooks.version(&snapshot.identity, DocumentKind::TaskPlan, workbook).await {
            Ok(document) => Some(hint(workbook, &document.text, last_edit(&document))),
            Err(error) => {
                tracing::warn!(session_identity = %snapshot.identity, event = "planning_files", %error, "the task plan cannot be read");
                Some("# Workbook\n\nIt cannot be read now; say so to the person.\n".to_owned())
            }
        }
    }
}

fn last_edit(document: &DocumentVersion) -> LastEdit {
    if document.by.through == DISK { LastEdit::Person } else { LastEdit::Agent }
}

impl NewWorkbook {
    /// A workbook about a message: its first line is the title.
    pub fn about(text: &str) -> Self {
        const MAX_CHARACTERS: usize = 80;
        let line = text.trim().lines().next().unwrap_or_default().trim();
        let title = match line.char_indices().nth(MAX_CHARACTERS) {
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
            None => line.to_owned(),
        };
        Self { title, force_new: false }
    }
}

impl EndedCall<'_> {
    /// The call in one line. Arguments with equal JSON values give equal text.
    fn summary(&self) -> String {
        let arguments = match serde_json::from_str::<Value>(self.arguments) {
            Ok(Value::Null) => "{}".to_owned(),
            Ok(value) => value.to_string(),
            Err(_) if self.arguments.trim().is_empty() => "{}".to_owned(),
            Err(_) => self.arguments.to_owned(),
        };
        format!("{} {arguments}", self.tool)
    }

    /// The text of an answer if it has one, else all of it.
    fn text(&self) -> String {
        let Ok(value) = serde_json::from_str::<Value>(self.answer) else { return self.answer.to_owned() };
        let inside = ["content", "text"].iter().find_map(|name| value.get(name)?.as_str());
        match inside {
            Some(text) if self.tool == "read_file" => without_numbers(text),
            Some(text) => text.to_owned(),
            None => serde_json::to_string_pretty(&value).unwrap_or_else(|_| self.answer.to_owned()),
        }
    }

    /// The code and the message of a refusal; of any other answer all of it.
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

/// The text of an answer of `read_file` without the numbers of its lines.
fn without_numbers(content: &str) -> String {
    let text = |line: &'_ str| -> String {
        match line.split_once('\t') {
            Some((number, text)) if number.trim_start().parse::<usize>().is_ok() => text.to_owned(),
            Some(_) | None => line.to_owned(),
        }
    };
    content.split_inclusive('\n').map(text).collect()
}
