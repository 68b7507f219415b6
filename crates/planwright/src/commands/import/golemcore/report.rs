//! What was taken of a workspace, what was here before, and what was not taken and why.

use planwright_core::session::SessionIdentity;
use planwright_engine::importer::ImportRun;
use serde_json::{Value, json};

use super::workspace::Found;
use crate::terminal::palette::{BOLD, DIM, WARNING};
use crate::terminal::text::{cut, paint, shown_line};

/// How much of a title or a memory is shown.
const MAX_NAME: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Plans,
    Conversations,
    Goals,
    Tasks,
    Memories,
    Chats,
    Other,
}

impl Part {
    const ALL: [Self; 7] =
        [Self::Plans, Self::Conversations, Self::Goals, Self::Tasks, Self::Memories, Self::Chats, Self::Other];

    const fn name(self) -> &'static str {
        match self {
            Self::Plans => "plans",
            Self::Conversations => "conversations",
            Self::Goals => "goals",
            Self::Tasks => "tasks",
            Self::Memories => "memories",
            Self::Chats => "chats",
            Self::Other => "other",
        }
    }
}

struct ReportLine {
    part: Part,
    name: String,
    /// What had to be changed, or why it was not taken.
    notes: Vec<String>,
}

pub(super) struct WorkspaceReport {
    run: ImportRun,
    taken: Vec<ReportLine>,
    here: Vec<ReportLine>,
    skipped: Vec<ReportLine>,
}

impl WorkspaceReport {
    pub(super) fn new(run: ImportRun) -> Self {
        Self { run, taken: Vec::new(), here: Vec::new(), skipped: Vec::new() }
    }

    /// What is in a file. What cannot be read is noted as not taken.
    pub(super) fn read<T>(&mut self, part: Part, found: Found<T>) -> Option<T> {
        match found.read {
            Ok(read) => Some(read),
            Err(reason) => {
                self.skip(part, found.name, reason);
                None
            }
        }
    }

    pub(super) fn take(&mut self, part: Part, name: String, notes: Vec<String>) {
        self.taken.push(ReportLine { part, name, notes });
    }

    /// It was here before.
    pub(super) fn leave(&mut self, part: Part, name: String) {
        self.here.push(ReportLine { part, name, notes: Vec::new() });
    }

    pub(super) fn skip(&mut self, part: Part, name: String, reason: impl Into<String>) {
        self.skipped.push(ReportLine { part, name, notes: vec![reason.into()] });
    }

    /// Whether this conversation is among those that were taken, or would be.
    pub(super) fn has_conversation(&self, session: &SessionIdentity) -> bool {
        let name = session.to_string();
        let is_it =
            |line: &ReportLine| line.part == Part::Conversations && line.name.split(',').next() == Some(name.as_str());
        self.taken.iter().chain(&self.here).any(is_it)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.here.is_empty()
    }

    pub(super) fn view(&self) -> Value {
        let lines = |lines: &[ReportLine]| {
            let items =
                lines.iter().map(|line| json!({ "part": line.part.name(), "name": line.name, "notes": line.notes }));
            items.collect::<Vec<_>>()
        };
        json!({
            "program": "golemcore",
            "dryRun": self.run == ImportRun::Dry,
            "taken": lines(&self.taken),
            "alreadyHere": lines(&self.here),
            "skipped": lines(&self.skipped),
        })
    }

    pub(super) fn describe(&self) -> String {
        let (taken, end) = match self.run {
            ImportRun::Real => ("taken over", "No plan is approved by this, and no schedule or run was started.\n"),
            ImportRun::Dry => ("would be taken over", "Nothing was written.\n"),
        };
        let mut text = String::new();
        for (title, lines) in
            [(taken, &self.taken), ("here already and left", &self.here), ("not taken", &self.skipped)]
        {
            for part in Part::ALL {
                let lines: Vec<_> = lines.iter().filter(|line| line.part == part).collect();
                if lines.is_empty() {
                    continue;
                }
                let heading = format!("{}, {title}: {}", part.name(), lines.len());
                let style = if title == "not taken" { WARNING } else { BOLD };
                text.push_str(&format!("{}\n", paint(&heading, style)));
                text.extend(lines.into_iter().map(ReportLine::describe));
            }
        }
        text.push_str(end);
        text
    }
}

impl ReportLine {
    fn describe(&self) -> String {
        let notes: String = self.notes.iter().map(|note| format!("    {}\n", paint(&shown_line(note), DIM))).collect();
        format!("  {}\n{notes}", cut(&shown_line(&self.name), MAX_NAME))
    }
}
