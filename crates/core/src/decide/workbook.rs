//! The workbook: what is begun, written, archived and taken away.

use crate::actor::ActorKind;
use crate::decide::Decider;
use crate::event::{Event, WorkbookEvent};
use crate::policy::filled;
use crate::refusal::Refusal;
use crate::workbook::{DocumentKind, Documents, Workbook, WorkbookCommand, WriteOrigin};

impl Decider<'_> {
    pub(super) fn workbook(&self, command: &WorkbookCommand) -> Result<Vec<Event>, Refusal> {
        match command {
            WorkbookCommand::Switch { on } => self.switch_workbook(*on),
            WorkbookCommand::Begin { title, documents, replaces, taken } => {
                self.begin_workbook(title, documents, replaces.as_ref(), taken)
            }
            WorkbookCommand::Write { which, base_version, content, why } => {
                self.write_document(*which, *base_version, content, *why)
            }
            WorkbookCommand::Clear { base_versions } => {
                if self.context.by.kind != ActorKind::Person {
                    self.check_planning_files()?;
                }
                same_versions(self.current_workbook()?, base_versions)?;
                Ok(vec![Event::Workbook(WorkbookEvent::Cleared)])
            }
            WorkbookCommand::RecordAssessment(record) => {
                self.snapshot.opened()?;
                Ok(vec![Event::Workbook(WorkbookEvent::Assessed { record: record.clone() })])
            }
        }
    }

    fn switch_workbook(&self, on: bool) -> Result<Vec<Event>, Refusal> {
        let is_on = self.snapshot.opened()?.workbook.as_ref().and_then(|workbook| workbook.on);
        Ok(if is_on == Some(on) { Vec::new() } else { vec![Event::Workbook(WorkbookEvent::Switched { on })] })
    }

    fn begin_workbook(
        &self,
        title: &str,
        documents: &Documents<String>,
        replaces: Option<&Documents<u32>>,
        taken: &[String],
    ) -> Result<Vec<Event>, Refusal> {
        let session = self.snapshot.opened()?;
        if session.refuses_planning_files() && self.context.by.kind != ActorKind::Person {
            return Err(Refusal::policy_denied("A person switched the planning files off in this session."));
        }
        let title = filled("title", title)?;
        self.policy.limits.check_line("title", title)?;
        for which in DocumentKind::ALL {
            self.policy.limits.check_document(documents.get(which))?;
        }
        let mut events = Vec::new();
        match (session.current_workbook(), replaces) {
            (None, None) => {}
            (Some(current), Some(replaced)) => {
                same_versions(current, replaced)?;
                let state = session.workbook.as_ref();
                let name = state.map(|state| state.archive_name(self.context.at, taken)).unwrap_or_default();
                events.push(Event::Workbook(WorkbookEvent::Archived { name }));
            }
            (Some(_), None) | (None, Some(_)) => return Err(moved_on()),
        }
        events.push(Event::Workbook(WorkbookEvent::Begun { title: title.to_owned(), documents: documents.clone() }));
        Ok(events)
    }

    fn write_document(
        &self,
        which: DocumentKind,
        base_version: u32,
        content: &str,
        why: WriteOrigin,
    ) -> Result<Vec<Event>, Refusal> {
        if why == WriteOrigin::Tool {
            self.check_planning_files()?;
        }
        let current = self.current_workbook()?.document(which);
        if current.version != base_version {
            return Err(moved_on());
        }
        filled("document", content)?;
        self.policy.limits.check_document(content)?;
        let version = current.version + 1;
        Ok(vec![Event::Workbook(WorkbookEvent::Written {
            which,
            version,
            follows: current.seq,
            content: content.to_owned(),
            why,
        })])
    }

    /// They may have been switched off since the gate was asked.
    fn check_planning_files(&self) -> Result<(), Refusal> {
        if self.snapshot.opened()?.has_planning_files(&self.policy.planning_files) {
            return Ok(());
        }
        Err(Refusal::policy_denied("Planning files are off in this session; a person turns them on."))
    }

    fn current_workbook(&self) -> Result<&Workbook, Refusal> {
        let none = || Refusal::not_found("There is no workbook in this session yet; init_plan begins one.");
        self.snapshot.opened()?.current_workbook().ok_or_else(none)
    }
}

fn same_versions(current: &Workbook, looked_at: &Documents<u32>) -> Result<(), Refusal> {
    if current.versions() == *looked_at { Ok(()) } else { Err(moved_on()) }
}

fn moved_on() -> Refusal {
    Refusal::conflict("The workbook was changed meanwhile; look at it again.")
}
