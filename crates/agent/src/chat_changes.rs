//! What the turns of a conversation changed in files outside of any plan, as it stands in the journal.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::event::{Event, SessionEvent, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::{ChangedPaths, FileChange, Undo};
use planwright_engine::ledger::LedgerResult;

use super::agent_context::AgentContext;
use super::plan_changes::{UndoneChanges, add_paths};
use crate::toolbox::files::FileDiff;

/// The number of entries of one read.
const PAGE: u32 = 1_000;

/// Reads what conversations changed.
#[derive(Debug, Clone)]
pub struct ChatChangesReader {
    agent: Arc<AgentContext>,
}

/// What a conversation changed in files outside of any plan and was not undone.
#[derive(Debug, Clone)]
pub struct ChatChanges {
    pub session: SessionIdentity,
    /// One diff for each file, by path.
    pub files: Vec<FileDiff>,
    /// The changes by turn, in order.
    pub turns: Vec<TurnChanges>,
    /// What commands changed. It is not kept and cannot be undone.
    pub uncovered: ChangedPaths,
    /// What people had put back, in order.
    pub undone: Vec<UndoneChanges>,
}

/// What one turn changed.
#[derive(Debug, Clone)]
pub struct TurnChanges {
    pub turn: TurnId,
    /// When it changed the last file.
    pub at: Timestamp,
    /// What the person said.
    pub text: String,
    pub files: Vec<FileDiff>,
}

/// The changes of a turn that were not undone.
#[derive(Debug, Clone)]
pub(super) struct StandingTurn {
    pub(super) turn: TurnId,
    pub(super) at: Timestamp,
    pub(super) text: String,
    pub(super) changes: Vec<FileChange>,
}

/// The entries of a conversation that are about files.
#[derive(Debug, Default)]
pub(super) struct ChatLog {
    /// The turns that changed files, in order; one whose every change was undone has none left.
    pub(super) turns: Vec<StandingTurn>,
    uncovered: ChangedPaths,
    undone: Vec<UndoneChanges>,
    /// What people said in turns that have changed no file yet.
    messages: HashMap<TurnId, String>,
}

impl ChatChangesReader {
    pub(super) fn new(agent: &Arc<AgentContext>) -> Self {
        Self { agent: Arc::clone(agent) }
    }

    /// What the conversation changed since it began or was reset.
    pub async fn read(&self, session: &SessionIdentity) -> LedgerResult<ChatChanges> {
        let log = self.log(session).await?;
        let all: Vec<_> = log.turns.iter().flat_map(|turn| turn.changes.iter().cloned()).collect();
        let mut files = self.agent.files.diff(session, &all).await?;
        files.sort_by(|one, other| {
            (&one.workspace.project(), &one.path).cmp(&(&other.workspace.project(), &other.path))
        });
        let mut turns = Vec::new();
        for StandingTurn { turn, at, text, changes } in log.turns {
            let files = self.agent.files.diff(session, &changes).await?;
            if !files.is_empty() {
                turns.push(TurnChanges { turn, at, text, files });
            }
        }
        Ok(ChatChanges { session: session.clone(), files, turns, uncovered: log.uncovered, undone: log.undone })
    }

    pub(super) async fn log(&self, session: &SessionIdentity) -> LedgerResult<ChatLog> {
        let mut log = ChatLog::new();
        let mut from = 0;
        loop {
            let page = self.agent.engine().ledger().conversation(session, from, PAGE).await?;
            let Some(last) = page.last().map(|entry| entry.seq) else { return Ok(log) };
            for entry in page {
                match entry.event {
                    Event::Session(event) => log.apply(event, entry.by, entry.at),
                    Event::Turn { id, event: TurnEvent::Begun { text, .. } } => drop(log.messages.insert(id, text)),
                    _ => {}
                }
            }
            from = last + 1;
        }
    }
}

impl ChatLog {
    fn new() -> Self {
        let uncovered = ChangedPaths { complete: true, ..ChangedPaths::default() };
        Self { uncovered, ..Self::default() }
    }

    /// The last turn that changed files which were not put back.
    pub(super) fn last_turn(&self) -> Option<&StandingTurn> {
        self.turns.iter().rev().find(|turn| !turn.changes.is_empty())
    }

    /// When the last file was changed, whether or not it was put back.
    pub(super) fn last_change(&self) -> Option<Timestamp> {
        self.turns.last().map(|turn| turn.at)
    }

    fn apply(&mut self, event: SessionEvent, by: planwright_core::actor::Actor, at: Timestamp) {
        match event {
            SessionEvent::FilesChanged { origin, call_changes } => {
                let (None, Some(turn)) = (origin.plan, origin.in_turn) else { return };
                if let Some(uncovered) = call_changes.uncovered {
                    add_paths(&mut self.uncovered, uncovered);
                }
                match self.turns.iter_mut().find(|known| known.turn == turn) {
                    Some(known) => {
                        known.changes.extend(call_changes.changes);
                        known.at = at;
                    }
                    None => {
                        let text = self.messages.remove(&turn).unwrap_or_default();
                        self.turns.push(StandingTurn { turn, at, text, changes: call_changes.changes });
                    }
                }
            }
            SessionEvent::ChangesUndone { undo } => self.undo(undo, by, at),
            // A new conversation begins.
            SessionEvent::ConversationReset { .. } => *self = Self::new(),
            _ => {}
        }
    }

    fn undo(&mut self, undo: Undo, by: planwright_core::actor::Actor, at: Timestamp) {
        let (None, Some(turn)) = (&undo.plan, &undo.in_turn) else { return };
        let place = |change: &FileChange| (change.workspace.clone(), change.path.clone());
        if let Some(known) = self.turns.iter_mut().find(|known| known.turn == *turn) {
            known.changes.retain(|change| undo.changes.iter().all(|undone| place(undone) != place(change)));
        }
        let paths = undo.changes.into_iter().map(|change| change.path).collect();
        self.undone.push(UndoneChanges { by, at, step: None, paths, not_undone: undo.not_undone });
    }
}
