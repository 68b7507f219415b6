//! `/changes` and `/undo` for what a conversation changed outside of any plan.

use planwright_core::command::{Command, SessionCommand};
use planwright_core::permission::GuardedFiles;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::Undo;
use planwright_engine::ledger::{Leasing, LedgerResult};
use planwright_engine::plan_status::one_line;
use planwright_engine::submitter::SubmitRequest;

use super::{
    WorkspaceCommands, fenced, files, lines_changed, names, put_back_text, shown_diff, uncovered_text, undone_before,
};
use crate::chat_changes::ChatChanges;
use crate::session::lease::LeaseGuard;
use crate::session::outcome::Answer;
use crate::session::work::InputContext;
use crate::toolbox::ToolContext;

/// The characters of a person's words that are shown with a turn.
const MAX_CHARACTERS: usize = 60;

impl WorkspaceCommands {
    pub(super) async fn changes_of_chat(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let changes = self.chat_changes.read(session).await?;
        Ok(Answer::text(session, changes_text(&changes, &self.agent.guarded_files())))
    }

    /// Whether the conversation changed files after the last plan did, or no plan did.
    pub(super) async fn chat_is_latest(&self, session: &SessionIdentity) -> LedgerResult<bool> {
        let Some(in_chat) = self.chat_changes.log(session).await?.last_change() else { return Ok(false) };
        let engine = self.agent.engine();
        if engine.plans().active(session).await.is_ok_and(|active| active.execution.is_some()) {
            return Ok(false);
        }
        match self.changes.last_carried_out(session).await? {
            Some(plan) => Ok(self.changes.last_change(&plan).await?.is_none_or(|in_plan| in_plan <= in_chat)),
            None => Ok(true),
        }
    }

    /// Puts back what the last turn changed that changed files outside of any plan.
    pub(crate) async fn undo_last_turn(&self, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        if let Some(undo) = undone_before(self.agent.engine(), context).await? {
            return Ok(undone(session, undo));
        }
        self.check_undo(context).await?;
        self.agent.engine().check_project_is_here(session).await?;
        let held = self.leases.hold(context).await?;
        let outcome = self.undo_turn_under(&held, context).await;
        self.leases.release(&held).await;
        outcome
    }

    async fn undo_turn_under(&self, held: &LeaseGuard, context: &InputContext) -> LedgerResult<Answer> {
        let (session, engine) = (context.session(), self.agent.engine());
        // No process works on it: the session is held here.
        if let Some(open) = engine.sessions().get(session).await?.turn {
            let message = match open.waiting_ask() {
                Some(_) => "The agent waits for your answer. `/stop` ends its turn; then its changes can be undone.",
                None => "The agent's turn was interrupted. `/stop` ends it; then its changes can be undone.",
            };
            return Ok(Answer::refusal(session, RefusalCode::WrongStatus, message));
        }
        let log = self.chat_changes.log(session).await?;
        let Some(turn) = log.last_turn() else {
            let message = "There is nothing to undo: this conversation changed no file outside of a plan.";
            return Ok(Answer::refusal(session, RefusalCode::WrongStatus, message));
        };
        let tool_context = ToolContext::leased(session, held, engine.ledger().as_ref());
        let report = self.agent.files.undo(tool_context, &turn.changes).await?;
        let (changes, not_undone) = (report.changes, report.not_undone);
        let undo = Undo { plan: None, step: None, in_turn: Some(turn.turn.clone()), changes, not_undone };
        if undo.changes.is_empty() {
            return Ok(Answer::refusal(session, RefusalCode::Conflict, put_back_text(SUBJECT, &undo)));
        }
        let command = Command::Session(SessionCommand::RecordUndo(Box::new(undo.clone())));
        let id = context.engine(engine).submitter().next_request();
        let leasing = Leasing::Held(held.lease().clone());
        let request = SubmitRequest { session, by: context.by(), id, leasing, turn: None };
        engine.submitter().submit_as(request, command).await?;
        Ok(undone(session, undo))
    }
}

const SUBJECT: &str = "the last turn of the conversation that changed files";

fn undone(session: &SessionIdentity, undo: Undo) -> Answer {
    let message = put_back_text(SUBJECT, &undo);
    Answer { undone: Some(Box::new(undo)), ..Answer::text(session, message) }
}

fn changes_text(changes: &ChatChanges, guarded: &GuardedFiles) -> String {
    let mut parts = Vec::new();
    parts.push(match changes.files.len() {
        0 if changes.undone.is_empty() => "This conversation changed no file outside of a plan.".to_owned(),
        0 => "This conversation left no file changed outside of a plan.".to_owned(),
        count => {
            let lines = lines_changed(&changes.files);
            format!("This conversation changed {} outside of a plan ({lines}).", files(count))
        }
    });
    let turns = changes.turns.iter().map(|turn| {
        let first_line: String = turn.text.lines().next().unwrap_or_default().chars().take(MAX_CHARACTERS).collect();
        let paths: Vec<_> = turn.files.iter().map(|file| file.path.clone()).collect();
        format!("- after “{}”: {}", one_line(&first_line), names(&paths))
    });
    let turns: Vec<_> = turns.collect();
    if !turns.is_empty() {
        parts.push(turns.join("\n"));
    }
    if !changes.files.is_empty() {
        let (text, left_out) = shown_diff(&changes.files);
        parts.push(fenced("diff", &text));
        if left_out > 0 {
            parts.push(format!("{} is not shown whole here.", files(left_out)));
        }
        parts.push("`/undo` puts back what the last of these turns changed.".to_owned());
    }
    if !changes.uncovered.is_empty() {
        parts.push(uncovered_text(&changes.uncovered, guarded));
    }
    for undo in &changes.undone {
        parts.push(format!("Put back by {}: {}.", undo.by.name, names(&undo.paths)));
    }
    parts.join("\n\n")
}
